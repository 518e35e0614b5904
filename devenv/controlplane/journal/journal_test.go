// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, path string) (*Journal, []Record) {
	t.Helper()
	var found []Record
	j, err := Open(path, slog.New(slog.DiscardHandler), func(r Record) { found = append(found, r) })
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.file.Close() })
	return j, found
}

func samples() []Record {
	now := time.Unix(1_795_230_000, 123)
	return []Record{
		{Kind: Deployment, Model: []byte("m"), Created: now, Completed: now.Add(1), Stages: []Stage{{ID: "s", Started: now}, {ID: "t"}}},
		{Kind: Log, ID: "d", Name: "s", Attempt: 3, Blocks: [][]byte{[]byte("a"), {}}, Received: now, Sealed: true},
		{Kind: Application, Model: []byte("a"), Automatic: true},
		{Kind: Object, ID: "a", Name: "p", Key: "k", Model: []byte{0, 1}},
		{Kind: 99, ID: "of a newer version"},
	}
}

func TestRecordsOutlastTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, found := open(t, path)
	require.Empty(t, found)
	for _, r := range samples() {
		require.False(t, j.Append(r))
	}
	// Not closed: the process was killed.
	j, found = open(t, path)
	require.Equal(t, samples(), found)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, info.Size(), j.Size())
	require.NoError(t, j.Close())
}

func TestATornEndIsCutOffAndNothingElse(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "state")
	j, _ := open(t, whole)
	ends := map[int64]int{j.Size(): 0}
	for i, r := range samples() {
		j.Append(r)
		ends[j.Size()] = i + 1
	}
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "torn")
	want := 0
	for length := int64(len(magic)); length <= int64(len(text)); length++ {
		if n, ok := ends[length]; ok {
			want = n
		}
		require.NoError(t, os.WriteFile(path, text[:length], 0o600))
		torn, found := open(t, path)
		require.Len(t, found, want, "of %d bytes", length)
		torn.Append(Record{Kind: Event, ID: "next"})
		require.NoError(t, torn.Close())
		_, found = open(t, path)
		require.Len(t, found, want+1, "what comes next stands behind what was whole")
	}
	// A byte that has changed ends the story there.
	for at := len(magic); at < len(text); at++ {
		changed := append([]byte(nil), text...)
		changed[at] ^= 0xff
		require.NoError(t, os.WriteFile(path, changed, 0o600))
		_, found := open(t, path)
		require.Less(t, len(found), len(samples()))
		require.Equal(t, append([]Record(nil), samples()[:len(found)]...), found)
	}
}

func TestARewriteHoldsWhatItIsGivenAndGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, _ := open(t, path)
	large := false
	body := make([]byte, 64<<10)
	for i := 0; !large; i++ {
		require.Less(t, i, 200, "it asks for a rewrite when it has grown")
		large = j.Append(Record{Kind: Event, Model: body})
	}
	j.Rewrite(func(emit func(Record)) { emit(samples()[0]) })
	require.Less(t, j.Size(), int64(1000))
	j.Append(samples()[1])
	_, found := open(t, path)
	require.Equal(t, samples()[:2], found)
	require.NoFileExists(t, path+".new")
}

func TestAnUnfinishedRewriteAndAnotherVersionDoNoHarm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, _ := open(t, path)
	j.Append(samples()[0])
	require.NoError(t, os.WriteFile(path+".new", []byte("half"), 0o600))
	_, found := open(t, path)
	require.Len(t, found, 1)
	require.NoFileExists(t, path+".new")

	require.NoError(t, os.WriteFile(path, []byte("pipedeck journal 2, of the future"), 0o600))
	j, found = open(t, path)
	require.Empty(t, found)
	j.Append(samples()[0])
	_, found = open(t, path)
	require.Len(t, found, 1)
	aside, err := os.ReadFile(path + ".unknown")
	require.NoError(t, err)
	require.Equal(t, "pipedeck journal 2, of the future", string(aside))
}

func TestADiskThatFailsEndsTheKeepingNotTheWork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, _ := open(t, path)
	j.Append(samples()[0])
	require.NoError(t, j.file.Close()) // as a disk that has gone
	require.False(t, j.Append(samples()[1]))
	require.False(t, j.Append(samples()[2]))
	j.Rewrite(func(func(Record)) { require.Fail(t, "nothing is kept any more") })
	_, found := open(t, path)
	require.Equal(t, samples()[:1], found)
}

func FuzzDecode(f *testing.F) {
	for _, r := range samples() {
		f.Add(r.encode(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(r.encode(nil))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(r) {
			t.Fatalf("%v became %v: %v", r, again, err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	text := []byte(magic)
	for _, r := range samples() {
		text = frame(text, &r)
	}
	f.Add(text)
	f.Add([]byte(magic + "\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path, slog.New(slog.DiscardHandler), func(Record) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
