// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
)

// smallDisk mounts a file system of 2 MiB.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=700"); errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount a small file system")
	} else {
		require.NoError(t, err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fill takes all space that is left.
func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	require.NoError(t, err)
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
}

func TestADiskThatIsFullAndFreedLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	file := filepath.Join(disk, "history")
	p := start(t, keepIn(file))
	var acknowledged []string
	register := func(name string) error {
		// Larger than what a page that is there already may take.
		_, err := p.api.RegisterEvent(testContext(t), event(name+strings.Repeat(".", 5000)))
		if err == nil {
			acknowledged = append(acknowledged, name)
		}
		return err
	}
	for round := range 3 {
		require.NoError(t, register(fmt.Sprint(round, " before")))
		fill(t, filepath.Join(disk, "filler"))
		err := register(fmt.Sprint(round, " while full"))
		require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
		require.ErrorContains(t, err, "no space left on device")
		p.problem(t, "history", "free space on the file system")
		require.Equal(t, codes.Unavailable, status.Code(register(fmt.Sprint(round, " still full"))))
		_, err = p.piped.ListUnhandledCommands(testContext(t), &pipedservice.ListUnhandledCommandsRequest{})
		require.NoError(t, err, "what only reads goes on")
		require.NoError(t, os.Remove(filepath.Join(disk, "filler")))
		p.problem(t, "history", "")
		require.NoError(t, register(fmt.Sprint(round, " after")))
	}

	// The next control plane gets what the killed one has left.
	left, err := os.ReadFile(file)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.WriteFile(copied, left, 0o600))
	next := start(t, keepIn(copied))
	events, err := next.piped.ListEvents(testContext(t), &pipedservice.ListEventsRequest{})
	require.NoError(t, err)
	names := ""
	for _, e := range events.GetEvents() {
		names += strings.Trim(e.GetName(), ".") + "\n"
	}
	for _, name := range acknowledged {
		require.Contains(t, names, name+"\n")
	}
	require.Len(t, acknowledged, 6)
}
