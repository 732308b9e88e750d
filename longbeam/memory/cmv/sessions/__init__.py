"""Manager of sessions: a store of snapshots and branches, their tree, archives, and the hook that trims."""
