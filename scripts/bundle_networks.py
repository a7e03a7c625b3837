"""Write the files in src/coevo/bundled from the published networks.

    python scripts/bundle_networks.py FOLDER_OR_WHEEL

The networks are those of the Bayesian Network Repository of R's bnlearn
(https://www.bnlearn.com/bnrepository/, Marco Scutari, CC BY-SA 3.0). The argument is a
folder with its NAME.bif.gz files, or a wheel or zip that contains them in any folder. The
bundled files were made from the wheel of pgmpy 0.1.26, which contains unchanged copies.

Variables, states, parents and numbers stay as published. (Rows of tables are normalised when
a network is loaded, not here.) Only the layout of the files and the names of the networks
change. The script also writes index.json and SOURCES.md. The same input gives the same texts,
but the compressed bytes may differ between versions of zlib.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from coevo.bundled import NetworkInfo
from coevo.io.bif_reader import parse_bif_document
from coevo.io.bif_writer import format_bif_document
from coevo.io.scanner import decode_text, encode_text
from coevo.network import BayesianNetwork

TARGET = Path(__file__).resolve().parent.parent / "src" / "coevo" / "bundled"


class Origin(NamedTuple):
    """The subject and the publication of a network."""

    domain: str
    reference: str


ORIGINS = {
    "alarm": Origin(
        "Monitoring of patients under anaesthesia",
        "I. A. Beinlich, H. J. Suermondt, R. M. Chavez, G. F. Cooper (1989). The ALARM "
        "monitoring system: a case study with two probabilistic inference techniques for "
        "belief networks. Proceedings of the 2nd European Conference on Artificial "
        "Intelligence in Medicine, 247-256.",
    ),
    "andes": Origin(
        "Model of a student in an intelligent tutoring system for physics",
        "C. Conati, A. S. Gertner, K. VanLehn, M. J. Druzdzel (1997). On-line student modeling "
        "for coached problem solving using Bayesian networks. Proceedings of the 6th "
        "International Conference on User Modeling, 231-242.",
    ),
    "asia": Origin(
        "Textbook example: lung disease, smoking and a visit to Asia",
        "S. L. Lauritzen, D. J. Spiegelhalter (1988). Local computations with probabilities on "
        "graphical structures and their application to expert systems. Journal of the Royal "
        "Statistical Society B 50(2), 157-224.",
    ),
    "barley": Origin(
        "Growing malting barley without pesticides",
        "K. Kristensen, I. A. Rasmussen (2002). The use of a Bayesian network in the design of "
        "a decision support system for growing malting barley without use of pesticides. "
        "Computers and Electronics in Agriculture 33(3), 197-217.",
    ),
    "cancer": Origin(
        "Textbook example: lung cancer, pollution and smoking",
        "K. B. Korb, A. E. Nicholson (2010). Bayesian Artificial Intelligence, 2nd edition. "
        "CRC Press.",
    ),
    "child": Origin(
        "Diagnosis of congenital heart disease in newborn babies",
        "D. J. Spiegelhalter, R. G. Cowell (1992). Learning in probabilistic expert systems. "
        "Bayesian Statistics 4, 447-466.",
    ),
    "diabetes": Origin(
        "Adjustment of insulin doses over a day",
        "S. Andreassen, R. Hovorka, J. Benn, K. G. Olesen, E. R. Carson (1991). A model-based "
        "approach to insulin adjustment. Proceedings of the 3rd Conference on Artificial "
        "Intelligence in Medicine, 239-248.",
    ),
    "earthquake": Origin(
        "Textbook example: a burglar alarm, an earthquake and two neighbours who call",
        "K. B. Korb, A. E. Nicholson (2010). Bayesian Artificial Intelligence, 2nd edition. "
        "CRC Press.",
    ),
    "hailfinder": Origin(
        "Forecasting of severe summer hail in northeastern Colorado",
        "B. Abramson, J. Brown, W. Edwards, A. Murphy, R. L. Winkler (1996). Hailfinder: a "
        "Bayesian system for forecasting severe weather. International Journal of Forecasting "
        "12(1), 57-71.",
    ),
    "hepar2": Origin(
        "Diagnosis of liver disorders",
        "A. Onisko (2003). Probabilistic Causal Models in Medicine: Application to Diagnosis of "
        "Liver Disorders. PhD thesis, Institute of Biocybernetics and Biomedical Engineering, "
        "Polish Academy of Sciences, Warsaw.",
    ),
    "insurance": Origin(
        "Risks and costs of car insurance",
        "J. Binder, D. Koller, S. Russell, K. Kanazawa (1997). Adaptive probabilistic networks "
        "with hidden variables. Machine Learning 29(2-3), 213-244.",
    ),
    "link": Origin(
        "Linkage between two genes in a large human pedigree",
        "C. S. Jensen, A. Kong (1999). Blocking Gibbs sampling for linkage analysis in large "
        "pedigrees with many loops. American Journal of Human Genetics 65(3), 885-901.",
    ),
    "mildew": Origin(
        "Managing mildew in winter wheat",
        "A. L. Jensen, F. V. Jensen (1996). MIDAS: an influence diagram for management of "
        "mildew in winter wheat. Proceedings of the 12th Conference on Uncertainty in "
        "Artificial Intelligence, 349-356.",
    ),
    "munin": Origin(
        "Electromyography: diagnosis of muscle and nerve disorders",
        "S. Andreassen, F. V. Jensen, S. K. Andersen, B. Falck, U. Kjaerulff, M. Woldbye, "
        "A. R. Sorensen, A. Rosenfalck, F. Jensen (1989). MUNIN: an expert EMG assistant. "
        "In: Computer-Aided Electromyography and Expert Systems, Elsevier.",
    ),
    "pigs": Origin(
        "A pedigree of breeding pigs",
        "C. S. Jensen (1997). Blocking Gibbs Sampling for Inference in Large and Complex "
        "Bayesian Networks with Applications in Genetics. PhD thesis, Aalborg University.",
    ),
    "sachs": Origin(
        "Protein signalling in human immune system cells",
        "K. Sachs, O. Perez, D. Pe'er, D. A. Lauffenburger, G. P. Nolan (2005). Causal "
        "protein-signaling networks derived from multiparameter single-cell data. Science 308, "
        "523-529.",
    ),
    "survey": Origin(
        "Textbook example: which means of transport people use",
        "M. Scutari, J.-B. Denis (2014). Bayesian Networks: with Examples in R. Chapman & Hall.",
    ),
    "water": Origin(
        "Control of a waste water treatment plant",
        "F. V. Jensen, U. Kjaerulff, K. G. Olesen, J. Pedersen (1989). Et forprojekt til et "
        "ekspertsystem for drift af spildevandsrensning (An expert system for control of waste "
        "water treatment: a pilot project). Judex Datasystemer A/S, Aalborg. In Danish.",
    ),
    "win95pts": Origin(
        "Troubleshooting of printers in Windows 95",
        "Made at Microsoft Research; distributed as an example network, without a publication "
        "of its own.",
    ),
}

SOURCES_HEAD = """\
# Where the networks come from

The networks in this folder are those of the Bayesian Network Repository of R's bnlearn,
https://www.bnlearn.com/bnrepository/, kept by Marco Scutari and licensed under
[CC BY-SA 3.0](https://creativecommons.org/licenses/by-sa/3.0/). That licence, not the
licence of coevo's code, holds for the `.bif.gz` files here.

Variables, states, parents and probabilities are taken over unchanged. The files were
rewritten in coevo's layout and each network was given its name, by
`scripts/bundle_networks.py`, which also wrote this page and `index.json`; edit it there.

"""


def main(arguments: list[str]) -> int:
    """Write all files; print the usage if the arguments are wrong."""
    if len(arguments) != 1:
        print("usage: python scripts/bundle_networks.py FOLDER_OR_WHEEL", file=sys.stderr)
        return 2
    published = read_published(Path(arguments[0]))
    missing = sorted(ORIGINS.keys() - published.keys())
    if missing:
        print(f"{arguments[0]} does not contain {', '.join(missing)}.", file=sys.stderr)
        return 1
    infos = sorted(
        (write_network(name, published[name]) for name in ORIGINS),
        key=lambda info: (info.n_variables, info.name),
    )
    entries = [dataclasses.asdict(info) for info in infos]
    index = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
    (TARGET / "index.json").write_text(index, encoding="utf-8")
    (TARGET / "SOURCES.md").write_text(format_sources(infos), encoding="utf-8")
    size = sum(path.stat().st_size for path in TARGET.glob("*.bif.gz"))
    print(f"{len(infos)} networks, {size:,} bytes, in {TARGET}")
    return 0


def read_published(source: Path) -> dict[str, bytes]:
    """Return the bytes of each NAME.bif.gz in a folder, a wheel or a zip."""
    if source.is_dir():
        return {
            path.name.removesuffix(".bif.gz"): path.read_bytes() for path in _list_bif_files(source)
        }
    with zipfile.ZipFile(source) as archive:
        return {
            PurePosixPath(member).name.removesuffix(".bif.gz"): archive.read(member)
            for member in archive.namelist()
            if member.endswith(".bif.gz")
        }


def _list_bif_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.bif.gz"))


def write_network(name: str, data: bytes) -> NetworkInfo:
    """Write the file of one network and return its entry in the index."""
    file_name = f"{name}.bif.gz"
    document = dataclasses.replace(
        parse_bif_document(decode_text(gzip.decompress(data), file_name), file_name), name=name
    )
    packed = encode_text(format_bif_document(document), compressed=True)
    (TARGET / file_name).write_bytes(packed)
    return make_info(document.to_network())


def make_info(network: BayesianNetwork) -> NetworkInfo:
    """Return the index entry of a network."""
    arities = [variable.arity for variable in network.variables]
    return NetworkInfo(
        name=network.name,
        n_variables=len(arities),
        n_arcs=len(network.dag.arcs),
        n_parameters=network.n_parameters,
        max_parents=max(len(network.parents(v.name)) for v in network.variables),
        min_states=min(arities),
        max_states=max(arities),
        domain=ORIGINS[network.name].domain,
        reference=ORIGINS[network.name].reference,
    )


def format_sources(infos: list[NetworkInfo]) -> str:
    """Return the text of SOURCES.md."""
    lines = [f"- **{info.name}**: {info.domain}. {info.reference}" for info in infos]
    return SOURCES_HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
