package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/internal/blob"
)

// place is one partition of one ledger in a bucket:
//
//	CLUSTER/TOPIC-ID/PARTITION/checkpoints/OFFSET-EPOCH   manifests, sealed
//	CLUSTER/TOPIC-ID/PARTITION/objects/SHA256             files of checkpoints
//	CLUSTER/TOPIC-ID/PARTITION/pins/OFFSET-EPOCH          see Audit
//
// A manifest is written after all its objects; without one a checkpoint does
// not exist. Objects are named by their content, so that the tables which two
// checkpoints share are sent once.
type place struct {
	bucket    blob.Bucket
	cluster   string
	topic, id string
	partition int32
}

func (p place) key(parts ...string) string {
	return fmt.Sprintf("%s/%s-%s/%d/%s", p.cluster, p.topic, p.id, p.partition, strings.Join(parts, "/"))
}

const (
	manifestsDir = "checkpoints"
	objectsDir   = "objects"
	pinsDir      = "pins"
)

// manifest is a checkpoint in a bucket.
type manifest struct {
	Checkpoint checkpoint `json:"checkpoint"`
	Cluster    string     `json:"cluster"`
	Partition  int32      `json:"partition"`
	// Objects are the names of the files' contents, SHA-256 in hexadecimal.
	Objects map[string]string `json:"objects"`
}

// name of a manifest; their order is the order of their offsets.
func (m manifest) name() string { return nameOf(m.Checkpoint.Offset, m.Checkpoint.Epoch) }

func nameOf(offset, epoch int64) string { return fmt.Sprintf("%020d-%020d", offset, epoch) }

// offsetOf returns the offset in a manifest's name, -1 if it is not such a name.
func offsetOf(name string) int64 {
	first, second, _ := strings.Cut(name, "-")
	offset, err1 := strconv.ParseInt(first, 10, 64)
	epoch, err2 := strconv.ParseInt(second, 10, 64)
	if err1 != nil || err2 != nil || nameOf(offset, epoch) != name {
		return -1
	}
	return offset
}

// inventory is what a place holds.
type inventory struct {
	manifests []string         // names, newest first
	objects   map[string]int64 // sizes in bytes
	pins      []string         // names of manifests
}

func (p place) list(ctx context.Context) (inventory, error) {
	have := inventory{objects: map[string]int64{}}
	prefix := p.key("")
	for object, err := range p.bucket.List(ctx, prefix) {
		if err != nil {
			return inventory{}, err
		}
		kind, name, _ := strings.Cut(strings.TrimPrefix(object.Key, prefix), "/")
		switch kind {
		case manifestsDir:
			if offsetOf(name) >= 0 {
				have.manifests = append(have.manifests, name)
			}
		case objectsDir:
			have.objects[name] = object.Size
		case pinsDir:
			have.pins = append(have.pins, name)
		}
	}
	slices.SortFunc(have.manifests, func(a, b string) int { return cmp.Compare(b, a) })
	return have, nil
}

// read returns the manifest of that name if it is complete, belongs here, and fits
// the ledger. An error that wraps errNoCheckpoint says why it cannot be used. Any
// other error says that the check failed.
func (p place) read(ctx context.Context, name string, have inventory, log source) (manifest, error) {
	var raw bytes.Buffer
	err := p.bucket.Get(ctx, p.key(manifestsDir, name), &raw)
	if errors.Is(err, blob.ErrNotExist) {
		err = fmt.Errorf("%w: it was removed meanwhile", errNoCheckpoint)
	}
	if err != nil {
		return manifest{}, err
	}
	var m manifest
	if err := unseal(raw.Bytes(), &m); err != nil {
		return manifest{}, err
	}
	c := m.Checkpoint
	switch {
	case c.Version != checkpointVersion:
		return manifest{}, fmt.Errorf("%w: version %d", errNoCheckpoint, c.Version)
	case m.Cluster != p.cluster || c.Ledger != p.id || m.Partition != p.partition || m.name() != name:
		return manifest{}, fmt.Errorf("%w: it is of cluster %s, topic %s, partition %d", errNoCheckpoint, m.Cluster, c.Ledger, m.Partition)
	}
	for file, size := range c.Files {
		if got, ok := have.objects[m.Objects[file]]; !ok || got != size || filepath.Base(file) != file || !filepath.IsLocal(file) || file == "." {
			return manifest{}, fmt.Errorf("%w: its file %s is missing or incomplete", errNoCheckpoint, file)
		}
	}
	return m, c.fits(ctx, log)
}

// download writes the files of m to dir, a new directory, and checks them:
// their contents, the blocks of the tables, and that they open.
func (p place) download(ctx context.Context, m manifest, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory of a checkpoint: %w", err)
	}
	for file := range m.Checkpoint.Files {
		path := filepath.Join(dir, file)
		if err := p.downloadObject(ctx, m.Objects[file], path); err != nil {
			return err
		}
		if err := checkTable(path); err != nil {
			return err
		}
	}
	return checkOpens(dir)
}

func (p place) downloadObject(ctx context.Context, sum, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write file of a checkpoint: %w", err)
	}
	digest := sha256.New()
	err = p.bucket.Get(ctx, p.key(objectsDir, sum), io.MultiWriter(file, digest))
	if closing := file.Close(); err == nil && closing != nil {
		err = fmt.Errorf("write file of a checkpoint: %w", closing)
	}
	if err == nil && hex.EncodeToString(digest.Sum(nil)) != sum {
		err = fmt.Errorf("%w: object %s holds something else", errNoCheckpoint, sum)
	}
	return err
}
