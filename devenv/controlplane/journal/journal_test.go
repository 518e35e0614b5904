// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// memory is a state that holds the newest record of each object.
type memory struct {
	mu       sync.Mutex
	records  []Record // as restored
	order    []string
	objects  map[string]Record
	lost     []Record
	restored bool
	refuse   func(Record) error
}

func newMemory() *memory { return &memory{objects: map[string]Record{}} }

func (m *memory) Restore(r Record) error {
	if m.refuse != nil {
		if err := m.refuse(r); err != nil {
			return err
		}
	}
	r = copied(r)
	m.records = append(m.records, r)
	m.put(r)
	return nil
}

func copied(r Record) Record {
	again, _ := decode((&r).encode(nil))
	return again
}

func (m *memory) put(r Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[r.identity()]; !ok {
		m.order = append(m.order, r.identity())
	}
	m.objects[r.identity()] = r
}

func (m *memory) Lost(r Record) string {
	m.lost = append(m.lost, r)
	return r.String()
}

func (m *memory) Restored() { m.restored = true }

func (m *memory) Kept(emit func(Record)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range m.order {
		emit(m.objects[key])
	}
}

// append changes the state and the journal together, as the store does.
func (m *memory) append(j *Journal, r Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[r.identity()]; !ok {
		m.order = append(m.order, r.identity())
	}
	m.objects[r.identity()] = r
	j.Append(r)
}

// problems collects what a journal reports.
type problems struct {
	mu  sync.Mutex
	now map[Subject]*Problem
}

func (p *problems) set(s Subject, problem *Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		p.now = map[Subject]*Problem{}
	}
	p.now[s] = problem
}

func (p *problems) get(s Subject) *Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now[s]
}

func openFile(path string) (*Journal, *memory, *problems) { return openOn(path, realDisk{}) }

func openOn(path string, d disk) (*Journal, *memory, *problems) {
	m, p := newMemory(), &problems{}
	return open(Options{Path: path, State: m, Problem: p.set}, d), m, p
}

// running has a journal keep records until the returned function is called, as if the process were killed: what is not
// kept by then is not kept afterwards.
func running(t *testing.T, j *Journal) (kill func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = j.Run(ctx)
	}()
	kill = func() {
		cancel()
		<-done
	}
	t.Cleanup(kill)
	return kill
}

func keep(t *testing.T, j *Journal, m *memory, records ...Record) {
	t.Helper()
	for _, r := range records {
		m.append(j, r)
	}
	require.NoError(t, j.Wait(testContext(t)))
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func samples() []Record {
	now := time.Unix(1_795_230_000, 123)
	return []Record{
		{Kind: Deployment, ID: "one", Model: []byte("m"), Created: now, Completed: now.Add(1),
			Stages: []Stage{{ID: "s", Started: now}, {ID: "t"}}},
		{Kind: Log, ID: "d", Name: "s", Attempt: 3, Blocks: [][]byte{[]byte("a"), {}}, Received: now, Sealed: true},
		{Kind: Application, ID: "two", Model: []byte("a"), Automatic: true},
		{Kind: Object, ID: "a", Name: "p", Key: "k", Model: []byte{0, 1}},
		{Kind: 200, ID: "of a newer version"},
	}
}

// written returns the bytes of a file with the samples.
func written(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	j, m, _ := openFile(path)
	kill := running(t, j)
	keep(t, j, m, samples()...)
	kill()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func TestRecordsOutlastTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, m, _ := openFile(path)
	running(t, j)
	require.Empty(t, m.records)
	require.True(t, m.restored)
	keep(t, j, m, samples()...)
	// Not closed: the process was killed.
	again, next, p := openFile(path)
	require.Equal(t, samples(), next.records)
	require.Empty(t, p.now)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, info.Size(), again.Size())

	kill := running(t, again)
	keep(t, again, next, Record{Kind: Event, ID: "next"})
	kill()
	_, last, p := openFile(path)
	require.Len(t, last.records, len(samples())+1)
	require.Empty(t, p.now)
}

func TestWhatIsAppendedIsKeptAtTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, m, _ := openFile(path)
	m.append(j, samples()[0])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, j.Run(ctx))
	_, next, _ := openFile(path)
	require.Len(t, next.records, 1)
}

// requireReported opens a damaged file: at most so many of the samples are lost, this is reported until users accept
// it, and the damaged file is kept.
func requireReported(t *testing.T, data []byte, lost int, what string, args ...any) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	_, m, p := openFile(path)
	require.GreaterOrEqual(t, len(m.records), len(samples())-lost, append([]any{what}, args...)...)
	require.NotNil(t, p.get(Damage), append([]any{what}, args...)...)
	at := 0
	for _, r := range m.records { // in their order and as they were
		for at < len(samples()) && samples()[at].identity() != r.identity() {
			at++
		}
		require.Less(t, at, len(samples()))
		require.Equal(t, samples()[at], r)
	}
	aside, err := filepath.Glob(path + ".*-*")
	require.NoError(t, err)
	require.Len(t, aside, 1)
	kept, err := os.ReadFile(aside[0])
	require.NoError(t, err)
	require.Equal(t, string(data), string(kept))
	next, whole, p := openFile(path)
	require.Len(t, whole.records, len(m.records))
	require.NotNil(t, p.get(Damage), "it is said after the next start, too")
	require.NoError(t, os.Remove(aside[0]))
	next.checkLosses()
	require.Nil(t, p.get(Damage), "until the user accepts it")
}

func TestAFlippedBitCostsAtMostTheRecordItHits(t *testing.T) {
	t.Parallel()
	text := written(t)
	for at := range text {
		changed := append([]byte(nil), text...)
		changed[at] ^= 1 << (at % 8)
		requireReported(t, changed, 1, "byte %d", at)
	}
}

func TestACutCostsAtMostTheRecordsItHits(t *testing.T) {
	t.Parallel()
	text := written(t)
	for at := 0; at < len(text); at += 3 {
		// Shorter than an edge: it hits two records at most, and one of them keeps an edge.
		for _, n := range []int{1, 7} {
			if at+n < len(text) {
				requireReported(t, slices.Concat(text[:at], text[at+n:]), 2, "%d bytes at %d", n, at)
			}
		}
		requireReported(t, text[:at], len(samples()), "its first %d bytes", at)
	}
}

func TestAnEndThatWasNotAcknowledgedIsNoDamage(t *testing.T) {
	t.Parallel()
	text := written(t)
	more := appendFrame(nil, &Record{Kind: Event, ID: "not acknowledged", Model: make([]byte, 100)})
	seal(more, uint64(len(samples())+1))
	for length := range len(more) {
		path := filepath.Join(t.TempDir(), "state")
		require.NoError(t, os.WriteFile(path, append(append([]byte(nil), text...), more[:length]...), 0o600))
		j, m, p := openFile(path)
		require.GreaterOrEqual(t, len(m.records), len(samples()))
		require.Empty(t, p.now, "%d bytes", length)
		kill := running(t, j)
		keep(t, j, m, Record{Kind: Event, ID: "next"})
		kill()
		_, m, p = openFile(path)
		require.Equal(t, "next", m.records[len(m.records)-1].ID)
		require.Empty(t, p.now, "%d bytes", length)
	}
}

func TestARecordThatMakesNoSenseIsReported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.WriteFile(path, written(t), 0o600))
	m, p := newMemory(), &problems{}
	m.refuse = func(r Record) error {
		if r.Kind == 200 {
			return errors.New("unknown")
		}
		return nil
	}
	open(Options{Path: path, State: m, Problem: p.set}, realDisk{})
	require.Len(t, m.records, len(samples())-1)
	require.Equal(t, []Record{{Kind: 200, ID: "of a newer version"}}, m.lost)
	require.NotNil(t, p.get(Damage))
}

func TestALostRecordThatALaterOneReplacesIsNotMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, m, _ := openFile(path)
	kill := running(t, j)
	keep(t, j, m, samples()[0])
	at := j.Size()
	keep(t, j, m, samples()[0], samples()[1])
	kill()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[at-36]++ // in the body, before the second edge
	require.NoError(t, os.WriteFile(path, data, 0o600))
	_, m, p := openFile(path)
	require.Len(t, m.records, 2)
	require.Empty(t, m.lost)
	require.Contains(t, p.get(Damage).Reason, "nothing is missing")
	require.Contains(t, p.get(Damage).NextStep, "no object is lost; remove the damaged file with: rm ")
}

func TestFilesOfOtherVersionsAreNeverOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	for _, version := range []string{"8", "9"} {
		require.NoError(t, os.WriteFile(path, []byte("pipedeck journal "+version+", of the future"), 0o600))
		_, m, p := openFile(path)
		require.Empty(t, m.records)
		require.NotNil(t, p.get(Damage))
		_, _, p = openFile(path)
		require.NotNil(t, p.get(Damage))
	}
	aside, err := filepath.Glob(path + ".unknown-*")
	require.NoError(t, err)
	require.Len(t, aside, 2)
	for i, version := range []string{"8", "9"} {
		text, err := os.ReadFile(aside[i])
		require.NoError(t, err)
		require.Equal(t, "pipedeck journal "+version+", of the future", string(text))
	}
}

func TestAFileOfTheVersionBeforeIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	text := []byte(magicOne)
	for _, r := range samples() {
		text = appendRecordOne(text, r)
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, m, p := openFile(path)
	require.Equal(t, samples(), m.records)
	require.Empty(t, p.now)
	_, m, p = openFile(path)
	require.Len(t, m.records, len(samples()))
	require.Empty(t, p.now)

	require.NoError(t, os.WriteFile(path, text[:len(text)-5], 0o600))
	_, m, p = openFile(path)
	require.Len(t, m.records, len(samples())-1)
	require.NotNil(t, p.get(Damage))
}

func TestASnapshotReplacesAFileThatHasGrown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, m, _ := openFile(path)
	kill := running(t, j)
	body := make([]byte, 256<<10)
	for range 100 {
		keep(t, j, m, Record{Kind: Event, ID: "same", Model: body})
		require.Less(t, j.Size(), int64(9<<20))
	}
	kill()
	_, next, p := openFile(path)
	require.Equal(t, "same", next.records[len(next.records)-1].ID)
	require.Empty(t, p.now)
	require.NoFileExists(t, path+".new")
}

func TestAFileThatDisappearsIsWrittenAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, m, _ := openFile(path)
	kill := running(t, j)
	keep(t, j, m, samples()...)
	require.NoError(t, os.Remove(path))
	keep(t, j, m, Record{Kind: Event, ID: "next"})
	kill()
	_, next, _ := openFile(path)
	require.Len(t, next.records, len(samples())+1)
}

func TestAnUnfinishedSnapshotDoesNoHarm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.WriteFile(path, written(t), 0o600))
	require.NoError(t, os.WriteFile(path+".new", []byte("half"), 0o600))
	j, m, p := openFile(path)
	require.Len(t, m.records, len(samples()))
	require.Empty(t, p.now)
	j.replace = true
	j.step()
	require.NoFileExists(t, path+".new")
	_, m, _ = openFile(path)
	require.Len(t, m.records, len(samples()))
}
