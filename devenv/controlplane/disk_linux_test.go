// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestADiskThatIsFullAndFreedLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	disk := filetest.SmallDisk(t, "2m")
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
		filler := filetest.Fill(t, disk)
		err := register(fmt.Sprint(round, " while full"))
		require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
		require.ErrorContains(t, err, "no space left on device")
		p.problem(t, "history", "free space on the file system")
		require.Equal(t, codes.Unavailable, status.Code(register(fmt.Sprint(round, " still full"))))
		_, err = p.piped.ListUnhandledCommands(testContext(t), &pipedservice.ListUnhandledCommandsRequest{})
		require.NoError(t, err, "what only reads goes on")
		require.NoError(t, os.Remove(filler))
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
