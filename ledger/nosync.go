package ledger

import "github.com/cockroachdb/pebble/v2/vfs"

// noSync is a file system that leaves writing back to the kernel. A killed
// process loses nothing by it; after a power cut a checkpoint may be damaged,
// is found out by its sizes and block checksums, and the ledger is replayed.
type noSync struct{ vfs.FS }

type noSyncFile struct{ vfs.File }

func (noSyncFile) Sync() error                             { return nil }
func (noSyncFile) SyncData() error                         { return nil }
func (noSyncFile) SyncTo(int64) (fullSync bool, err error) { return false, nil }

func wrapFile(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}

func (fs noSync) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return wrapFile(fs.FS.Create(name, c))
}

func (fs noSync) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return wrapFile(fs.FS.OpenReadWrite(name, c, opts...))
}

func (fs noSync) OpenDir(name string) (vfs.File, error) {
	return wrapFile(fs.FS.OpenDir(name))
}

func (fs noSync) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return wrapFile(fs.FS.ReuseForWrite(oldname, newname, c))
}
