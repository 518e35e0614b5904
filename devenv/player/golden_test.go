// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

var update = flag.Bool("update", false, "write how the recordings of earlier programs end")

// TestRecordingsOfEarlierProgramsStillOpen plays recordings that programs of earlier versions have made. They stay for
// ever: a new format gets a new file next to them, made by its first program, and so does what a format gets later,
// such as captions and the connection. None is made again.
func TestRecordingsOfEarlierProgramsStillOpen(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../sessionfile/testdata/format-*.pipedeck")
	require.NoError(t, err)
	for format := range sessionfile.Format {
		require.Contains(t, files, fmt.Sprintf("../sessionfile/testdata/format-%d.pipedeck", format+1))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			golden := strings.TrimSuffix(file, ".pipedeck") + ".txt"
			got := ending(t, file)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// ending is what a session is at its end, in words.
func ending(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	session, err := sessionfile.Read(f, 0)
	require.NoError(t, err)
	require.Empty(t, session.Missing)
	reel := NewReel(session)
	reel.Advance(reel.End())
	var out strings.Builder
	line := func(words ...any) { fmt.Fprintln(&out, words...) }
	line("environment", session.Header.GetEnvironment(), session.Duration())
	for _, record := range session.Records {
		if c := record.GetEvent().GetConnection(); c != nil {
			line("connection", record.GetAt().AsDuration(), c.GetLost(), c.GetStopped())
		}
	}
	for _, event := range reel.player.state.whole() {
		switch kind := event.GetKind().(type) {
		case *deckv1.Event_Component:
			line("component", kind.Component.GetName(), kind.Component.GetState())
		case *deckv1.Event_Plugin:
			line("plugin", kind.Plugin.GetName(), kind.Plugin.GetState(), kind.Plugin.GetStages())
		case *deckv1.Event_Application:
			line("application", kind.Application.GetName(), kind.Application.GetSync(), kind.Application.GetHealth())
		case *deckv1.Event_Deployment:
			d := kind.Deployment
			line("deployment", d.GetApplicationName(), d.GetStatus(), d.GetCommit().GetMessage())
			for _, stage := range d.GetStages() {
				log, _, complete := reel.Log(d.GetId(), stage.GetId())
				run := reel.player.state.runs[stageKey{d.GetId(), stage.GetId()}]
				line("  stage", stage.GetName(), stage.GetStatus(), len(log), "blocks", complete, run != nil)
			}
		case *deckv1.Event_Problem:
			line("problem", kind.Problem.GetReason())
		case *deckv1.Event_Caption:
			c := kind.Caption
			line("caption", c.GetStep(), "of", c.GetSteps(), c.GetText(), c.GetFocus().GetPane())
		}
	}
	for _, application := range slices.Sorted(maps.Keys(reel.player.state.resources)) {
		line("resources", len(reel.player.state.resources[application].byID))
	}
	return out.String()
}
