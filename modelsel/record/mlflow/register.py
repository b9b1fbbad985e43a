"""The final model of a study under a name of MLflow's model registry."""

from modelsel.core.errors import Problem, StoreError
from modelsel.record.mlflow.store import TrackingStore


def register(store: TrackingStore, run_id: str, name: str) -> str:
    """Register the model of a recorded study as the next version under a name; the version. Raises StoreError.

    Registered twice, a model keeps the version that it has.
    """
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    client = MlflowClient(store.uri, store.uri)
    try:
        if not any(one.name == name for one in client.search_registered_models(f"name = '{name}'")):
            client.create_registered_model(name)
        known = [one for one in client.search_model_versions(f"name = '{name}'") if one.run_id == run_id]
        if known:
            return str(known[0].version)
        experiment = client.get_run(run_id).info.experiment_id
        made = client.search_logged_models([experiment], filter_string=f"source_run_id = '{run_id}'")
        source = made[0].artifact_location if made else f"{client.get_run(run_id).info.artifact_uri}/model"
        version = client.create_model_version(name, source, run_id, model_id=made[0].model_id if made else None)
        return str(version.version)
    except MlflowException as error:
        fix = "the study itself is on record; try another name, or the registry's own page"
        raise StoreError(Problem("MSEL-635", f"not registered ({str(error).splitlines()[0]})", name, fix)) from error
