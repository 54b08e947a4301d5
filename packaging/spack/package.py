"""A recipe for Spack. In a Spack repository it is packages/tutti/package.py; then, in a clone of tutti,

    spack dev-build tutti@0.1.0

builds and installs what is checked out: there is no address to fetch it from.
"""
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Spack before 1.0: it comes with spack.package
    pass


class Tutti(CMakePackage):
    """Collective communication library in C with a command: collectives are compositions of multicasts and reductions,
    compiled to plans that can be proven, drawn and run."""

    manual_download = True
    license("BSD-3-Clause")
    version("0.1.0")

    variant("pmix", default=True, description="Jobs of launchers that offer PMIx")
    variant("ucx", default=False, description="The transport for RDMA fabrics")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("jansson")
    depends_on("libsodium")
    depends_on("pmix@3:", when="+pmix")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("cmocka", type="test")
    depends_on("python@3:", type="test")

    generator("ninja")

    def cmake_args(self):
        """Without what stands in front of MPI programs: it is built for each MPI by names that Spack's have not."""
        return [
            self.define_from_variant("TUTTI_PMIX", "pmix"),
            self.define_from_variant("TUTTI_UCX", "ucx"),
            self.define("TUTTI_MPI", False),
            self.define("TUTTI_TESTS", self.run_tests),
        ]

    def setup_run_environment(self, env):
        """PMIx and UCX are loaded at run time, by their names."""
        for name in ("pmix", "ucx"):
            if self.spec.satisfies("+" + name):
                env.prepend_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)
