"""A study's run in MLflow, written or registered on demand."""

from modelsel.record.folder import RunFolder
from modelsel.record.mlflow.sync import register, store_of, sync


def to_mlflow(folder: RunFolder, registered_name: str | None = None, uri: str | None = None) -> str:
    """The id of the study's run. `registered_name` registers the final model under it, as its next version.

    Raises StoreError (exit 6) with what went wrong, ConfigurationError for an address that cannot be meant.
    """
    store = store_of(folder, uri)
    done = sync(folder, store)
    if registered_name is not None:
        register(store, done.run_id, registered_name)
    return done.run_id
