# SPDX-License-Identifier: Apache-2.0
"""The wheel: script/build python runs this with HASP_BUILD, where the libraries were built."""
import os
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent

setup(
    name="hasp",
    version=os.environ.get("HASP_VERSION", "0.1.0"),
    description="State-verified edits, confined tools and an agent, for Python",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=["hasp", "hasp.notebook"] if (HERE / "hasp" / "notebook").is_dir() else ["hasp"],
    package_data={"hasp": ["py.typed", "*.pyi", "_lib/*"]},
    cffi_modules=["build_native.py:ffi"],
    install_requires=["cffi"],
    zip_safe=False,
)
