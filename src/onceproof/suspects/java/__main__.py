"""python -m onceproof.suspects.java NAME: become the Java program of that name.

The clients are of the version that `--set clients=VERSION` asks for.
"""

import json
import os
import sys
from pathlib import Path

from onceproof import jars
from onceproof.machine import find_java

# A small program that lives for seconds: compiled as far as that pays.
JVM_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


def main() -> None:
    settings = json.loads(os.environ["ONCEPROOF_SETTINGS"])
    classpath = os.pathsep.join(map(str, jars.classpath(f"kafka-{settings['clients']}")))
    source = Path(__file__).parent / f"{sys.argv[1]}.java"
    java = str(find_java().executable)
    # In our place: signals meant for the suspect reach it, and nothing stands in between.
    os.execv(java, [java, *JVM_FLAGS, "-cp", classpath, str(source)])


if __name__ == "__main__":
    main()
