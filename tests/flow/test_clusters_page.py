"""The commands of the page on clusters, as they stand there but for the ports: each engine that is here computes a study."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extras import needs
from tests.runner.test_clusters import await_port, free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "cluster.md"
BLOCKS = re.findall(r"```console\n(.+?)```", PAGE.read_text("utf-8"), re.DOTALL)
PACKAGES = {"dask": "distributed", "ray": "ray", "spark": "joblibspark"}


@pytest.mark.parametrize("engine", PACKAGES)
def test_what_the_page_types_computes_a_study(engine: str, tmp_path: Path) -> None:
    needs(PACKAGES[engine])
    (block,) = (one for one in BLOCKS if f"pool={engine}" in one)
    (written,) = set(re.findall(r":(\d{4})\b", block))
    port = str(free_port())
    here, environment = Path(sys.executable).parent, {"RAY_AUTH_MODE": "disabled", "SPARK_LOCAL_IP": "127.0.0.1"}
    environment |= {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "PYSPARK_PYTHON": sys.executable}
    started = []
    try:
        for line in block.replace(written, port).splitlines():
            words = line.removeprefix("$ ").removesuffix(" &").split()
            command = [sys.executable, "-m", *words] if words[0] == "modelsel" else words
            run = subprocess.Popen(
                command,
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            if line.endswith("&"):
                started.append(run)
                await_port(int(port))
                continue
            said, _ = run.communicate(timeout=300)
            assert run.returncode == 0, said
            if words[0] == "modelsel":
                assert "wine-trees: 165 candidates compared" in said
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate()
        if engine == "ray":
            subprocess.run([here / "ray", "stop", "--force"], capture_output=True, check=False)
