"""An embedded PostgreSQL with pgvector: the data directory in a folder of ours, the programs from a wheel.

Only the wheel's programs are used. Its own starter changes the modes of parent folders, adds operating system users,
trusts every local user and can return the address of a dead server.
"""

from app.cluster.address import ClusterAddress
from app.cluster.cluster import Cluster, ClusterStatus
from app.cluster.scratch import scratch_cluster
from app.errors import ClusterError

__all__ = ["Cluster", "ClusterAddress", "ClusterError", "ClusterStatus", "scratch_cluster"]
