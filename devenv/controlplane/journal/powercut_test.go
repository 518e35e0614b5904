// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fragile is a disk that forgets, at a power cut, what was not brought to it, and that can be full.
type fragile struct {
	realDisk
	mu sync.Mutex
	// files are the contents of files as they were at their last Sync, renamed the name that is on the disk.
	synced map[string][]byte
	full   bool
}

type fragileFile struct {
	file
	disk *fragile
	path string // as it was opened
}

func (d *fragile) wrap(f file, err error) (file, error) {
	if err != nil {
		return nil, err
	}
	return &fragileFile{f, d, f.Name()}, nil
}

func (d *fragile) create(path string) (file, error) {
	d.mu.Lock()
	full := d.full
	d.mu.Unlock()
	if full {
		return nil, syscall.ENOSPC
	}
	return d.wrap(d.realDisk.create(path))
}

func (d *fragile) rename(f file, path string) error {
	if err := d.realDisk.rename(f.(*fragileFile).file, path); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced[path] = d.synced[f.(*fragileFile).path]
	f.(*fragileFile).path = path
	return nil
}

func (f *fragileFile) Write(b []byte) (int, error) {
	f.disk.mu.Lock()
	full := f.disk.full
	f.disk.mu.Unlock()
	if full { // some of it fits
		n, _ := f.file.Write(b[:len(b)/2])
		return n, syscall.ENOSPC
	}
	return f.file.Write(b)
}

func (f *fragileFile) Sync() error {
	if err := f.file.Sync(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	content := make([]byte, info.Size())
	if _, err := f.file.(realFile).ReadAt(content, 0); err != nil {
		return err
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.synced[f.path] = content
	return nil
}

// cutPower returns what is left of a file.
func (d *fragile) cutPower(path string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]byte(nil), d.synced[path]...)
}

func (d *fragile) setFull(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// TestWhatIsAcknowledgedSurvivesAPowerCut cuts the power while callers work: the file is what the last Sync has left.
func TestWhatIsAcknowledgedSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	d := &fragile{synced: map[string][]byte{}}
	j, m, _ := openOn(path, d)
	running(t, j)
	var acknowledged sync.Map
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for i := range 40 {
				id := fmt.Sprint(caller, "-", i)
				m.append(j, Record{Kind: Event, ID: id, Model: make([]byte, 32<<10)}) // grows beyond a snapshot
				if j.Wait(t.Context()) == nil {
					acknowledged.Store(id, true)
				}
			}
		})
	}
	working := make(chan struct{})
	go func() {
		callers.Wait()
		close(working)
	}()
	cuts := 0
	for done := false; !done; cuts++ {
		select {
		case <-working:
			done = true
		default:
		}
		var before []string
		acknowledged.Range(func(id, _ any) bool {
			before = append(before, id.(string))
			return true
		})
		left := filepath.Join(t.TempDir(), "left")
		require.NoError(t, os.WriteFile(left, d.cutPower(path), 0o600))
		if len(before) == 0 {
			continue
		}
		_, next, p := openFile(left)
		require.Nil(t, p.get(Damage))
		for _, id := range before {
			require.Contains(t, next.objects, (&Record{Kind: Event, ID: id}).identity(), "acknowledged before cut %d",
				cuts)
		}
	}
	t.Logf("%d power cuts", cuts)
	require.Greater(t, cuts, 2)
}

// TestAFullDiskIsReportedAndNothingAcknowledgedIsLost fills and frees the disk again and again.
func TestAFullDiskIsReportedAndNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	d := &fragile{synced: map[string][]byte{}}
	j, m, p := openOn(path, d)
	running(t, j)
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	var acknowledged []string
	for round := range 6 {
		d.setFull(round%2 == 1)
		if round%2 == 0 && round > 0 {
			require.Eventually(t, func() bool { return j.Ready() == nil }, waitFor, tick, "it recovers by itself")
			require.Eventually(t, func() bool { return p.get(Writing) == nil }, waitFor, tick)
		}
		for i := range 5 + random.IntN(10) {
			id := fmt.Sprint(round, "-", i)
			m.append(j, Record{Kind: Event, ID: id})
			err := j.Wait(testContext(t))
			if err == nil {
				acknowledged = append(acknowledged, id)
				continue
			}
			refused++
			require.ErrorIs(t, err, j.Ready())
			require.Contains(t, err.Error(), "no space left on device")
			require.Eventually(t, func() bool { return p.get(Writing) != nil }, waitFor, tick)
			require.Contains(t, p.get(Writing).NextStep, "free space")
		}
		left := filepath.Join(t.TempDir(), "left")
		require.NoError(t, os.WriteFile(left, d.cutPower(path), 0o600))
		_, next, _ := openFile(left)
		for _, id := range acknowledged {
			require.Contains(t, next.objects, (&Record{Kind: Event, ID: id}).identity())
		}
	}
	require.Positive(t, refused)
	require.NoFileExists(t, path+".new")
}
