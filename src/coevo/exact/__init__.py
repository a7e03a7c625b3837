"""Proofs: how far the best network known can be from the best one that exists.

`find_families` lists all families that can be in an optimal network, by proved rules. `run_proof`
works an upper bound on the score of every network down by clusters, a linear programme and a tree
of decisions. `make_certificate` writes what is proved, and `check_certificate` checks it with code
of its own.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.exact.certificate import (
        CERTIFICATE,
        Certificate,
        read_certificate,
        write_certificate,
    )
    from coevo.exact.check import Verdict, check_certificate
    from coevo.exact.families import Families, PartOfFamilies, check_family_memory, find_families
    from coevo.exact.relaxation import load_highs
    from coevo.exact.result import GoodNetworks, Proof, check_equivalent, list_good_networks
    from coevo.exact.run import ProofCheckpoint, ProofRow, ProofTask, make_certificate, run_proof
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        certificate="CERTIFICATE Certificate read_certificate write_certificate",
        check="Verdict check_certificate",
        families="Families PartOfFamilies check_family_memory find_families",
        relaxation="load_highs",
        result="GoodNetworks check_equivalent list_good_networks Proof",
        run="ProofRow ProofCheckpoint ProofTask make_certificate run_proof",
    )

__all__ = [
    "CERTIFICATE",
    "Certificate",
    "Families",
    "GoodNetworks",
    "PartOfFamilies",
    "Proof",
    "ProofCheckpoint",
    "ProofRow",
    "ProofTask",
    "Verdict",
    "check_certificate",
    "check_equivalent",
    "check_family_memory",
    "find_families",
    "list_good_networks",
    "load_highs",
    "make_certificate",
    "read_certificate",
    "run_proof",
    "write_certificate",
]
