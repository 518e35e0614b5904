// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// Names in the folder of packs: go-git writes a pack under the last one until it is complete.
const (
	packPrefix = "pack-"
	packSuffix = ".pack"
	idxSuffix  = ".idx"
	tmpPrefix  = "tmp_pack_"
)

// hashLength is the length of the checksums at the end of a pack, and of its index, in bytes.
const hashLength = 20

// addPack adds what write writes as one pack. The mirror is locked only to begin and to take note of the index;
// it stays usable while the pack is written and indexed. The caller has the turn to write.
func (m *mirror) addPack(write func(io.Writer) error) error {
	m.mu.Lock()
	writer, err := m.storage.PackfileWriter()
	m.mu.Unlock()
	if err == nil {
		err = fillPack(writer, func(note func()) { m.mu.Lock(); defer m.mu.Unlock(); note() }, write)
	}
	if err != nil {
		return errors.Join(err, removeUnfinished(m.packDir()))
	}
	return nil
}

// fillPack writes a pack; guard is called around the moment in which the storage takes note of it.
func fillPack(writer io.WriteCloser, guard func(note func()), write func(io.Writer) error) error {
	pack, ok := writer.(*dotgit.PackWriter)
	if !ok {
		return errors.Join(fmt.Errorf("write pack: %T cannot be guarded", writer), writer.Close())
	}
	note := pack.Notify
	pack.Notify = func(id plumbing.Hash, index *idxfile.Writer) { guard(func() { note(id, index) }) }
	err := write(pack)
	// What is not complete is an error of the index, of which the first error is the cause.
	if closeErr := pack.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("write pack: %w", closeErr)
	}
	return err
}

// removeUnfinished removes packs that were not completed.
func removeUnfinished(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), tmpPrefix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// checkPacks removes what a process that was killed has left in a bare repository. A pack that is damaged, as after
// a power failure, makes all objects doubtful, since what else is there may build upon the pack: drop is called.
func checkPacks(repository string, logger *slog.Logger, drop func() error) error {
	unpacked, err := filepath.Glob(filepath.Join(repository, thinPrefix+"*"))
	for _, left := range unpacked {
		err = errors.Join(err, os.RemoveAll(left))
	}
	if err != nil {
		return err
	}
	dir := filepath.Join(repository, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := removeUnfinished(dir); err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		pack, isIndex := strings.CutSuffix(name, idxSuffix)
		if isIndex {
			// An index is written before its pack gets its name, so it may be alone and incomplete.
			if _, err := os.Stat(pack + packSuffix); errors.Is(err, os.ErrNotExist) {
				if err := os.Remove(name); err != nil {
					return err
				}
			}
			continue
		}
		pack, isPack := strings.CutSuffix(name, packSuffix)
		if !isPack || wholePack(pack) {
			continue
		}
		logger.Warn("the mirror is damaged; what is missing is fetched again", "pack", name)
		return drop()
	}
	return nil
}

// wholePack reports whether the checksum of the pack stands at its end and in its index, and the index is whole.
func wholePack(name string) bool {
	inPack, err := lastBytes(name+packSuffix, hashLength)
	if err != nil {
		return false
	}
	inIndex, err := lastBytes(name+idxSuffix, 2*hashLength)
	if err != nil || !bytes.Equal(inPack, inIndex[:hashLength]) || plumbing.Hash(inPack).IsZero() {
		return false
	}
	_, err = readIndex(name + idxSuffix)
	return err == nil
}

func lastBytes(name string, n int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(-n, io.SeekEnd); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

// packFile is one pack of the mirror.
type packFile struct {
	id plumbing.Hash
	// size is in bytes, without the index.
	size int64
}

func listPacks(dir string) ([]packFile, error) {
	entries, err := os.ReadDir(dir)
	var packs []packFile
	for _, entry := range entries {
		name, isPack := strings.CutSuffix(entry.Name(), packSuffix)
		name, named := strings.CutPrefix(name, packPrefix)
		info, infoErr := entry.Info()
		if isPack && named && plumbing.IsHash(name) && infoErr == nil {
			packs = append(packs, packFile{plumbing.NewHash(name), info.Size()})
		}
	}
	return packs, err
}

// objectsOf lists what a pack holds.
func objectsOf(dir string, pack plumbing.Hash) ([]plumbing.Hash, error) {
	index, err := readIndex(filepath.Join(dir, packPrefix+pack.String()+idxSuffix))
	if err != nil {
		return nil, err
	}
	entries, err := index.Entries()
	if err != nil {
		return nil, err
	}
	defer entries.Close()
	var list []plumbing.Hash
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, entry.Hash)
	}
}

// readIndex reads the index of a pack, and compares it with its checksum.
func readIndex(name string) (*idxfile.MemoryIndex, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index := idxfile.NewMemoryIndex()
	return index, idxfile.NewDecoder(file).Decode(index)
}

// removePacks removes packs and takes note of what is left. The pack goes first: an index alone is harmless.
func removePacks(dir string, storage *filesystem.Storage, packs []packFile) error {
	var err error
	for _, pack := range packs {
		name := filepath.Join(dir, packPrefix+pack.id.String())
		err = errors.Join(err, os.Remove(name+packSuffix), os.Remove(name+idxSuffix))
	}
	storage.Reindex()
	return err
}
