// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestAFullDiskEndsARecordingAndNothingElse(t *testing.T) {
	t.Parallel()
	disk := filetest.SmallDisk(t, "2m")
	p := start(t)
	p.importApplication(id("2"), "ws")
	file := filepath.Join(disk, "session")
	f, err := os.Create(file)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		defer f.Close()
		ended <- recorder.Record(testContext(t), p.deck, f, recorder.Options{Clock: clock.System{}})
	}()
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool { return r.GetEvent().GetSynced() != nil })
	filetest.Fill(t, disk)

	p.deployLive(t) // the environment does not notice
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS,
		p.watch(t, false).deployments[id("3")].GetStatus())
	for i := 0; len(ended) == 0; i++ { // a page of the file that was there already may take some records
		p.server.SetComponent(&deckv1.Component{Name: "part", Detail: strings.Repeat("x", i%1000),
			State: deckv1.Component_STATE_READY})
	}
	require.ErrorIs(t, <-ended, syscall.ENOSPC)
	session := sessionOf(t, file)
	require.Equal(t, "the recording was not ended in order", session.Missing)
	require.NotEmpty(t, session.Records, "what was recorded before stays")

	again, err := os.Create(filepath.Join(disk, "again"))
	require.NoError(t, err)
	defer again.Close()
	require.ErrorIs(t, recorder.Record(t.Context(), p.deck, again, recorder.Options{Clock: clock.System{}}),
		syscall.ENOSPC, "nothing can begin on it")
	_, err = sessionfile.Read(again, 0)
	require.ErrorIs(t, err, sessionfile.ErrNoSession)
}
