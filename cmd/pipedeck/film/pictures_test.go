// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package film

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

var update = flag.Bool("update", false, "draw the pictures instead of comparing them")

// stories is the folder of recorded stories of pipedeck demo, and of the pictures of them.
const stories = "../../../docs/pictures/demo"

// maxPicture bounds a picture, in bytes: a page with several of them opens at once.
const maxPicture = 200 << 10

// TestPicturesOfRecordedStories keeps the pictures of the documentation that show recorded stories as the UI shows them
// now. make pictures draws them, as pipedeck export --svg does.
func TestPicturesOfRecordedStories(t *testing.T) {
	t.Parallel()
	drawn := map[string]bool{}
	for name, story := range map[string]struct {
		session, commit, stage string
		status                 deckv1.StageStatus
		after                  time.Duration
	}{
		"dag":        {"dag", "Greet the graph", "load-test", deckv1.StageStatus_STAGE_STATUS_RUNNING, time.Second},
		"dag-failed": {"dag", "Greet the failure", "ROLLBACK", deckv1.StageStatus_STAGE_STATUS_SUCCESS, time.Second},
	} {
		drawn[name+".svg"] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := recordedStory(t, story.session)
			reel := player.NewReel(session)
			o := options()
			o.Name, o.Columns, o.Rows = session.Header.GetEnvironment(), 120, 36
			o.Until = firstTime(t, session, story.commit, story.stage, story.status) + story.after - reel.Begin()
			svg, err := Picture(t.Context(), reel, o)
			require.NoError(t, err)
			require.Less(t, len(svg), maxPicture)
			file := filepath.Join(stories, name+".svg")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(svg), 0o644))
			}
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			require.True(t, string(before) == svg, "docs/pictures/demo/%s.svg is stale: run make pictures", name)
			require.Contains(t, wordsOf(t, svg), story.commit)
		})
	}
	files, err := filepath.Glob(stories + "/*.svg")
	require.NoError(t, err)
	for _, file := range files {
		require.True(t, drawn[filepath.Base(file)], "%s is drawn by nothing", file)
	}
}

func recordedStory(t *testing.T, name string) *sessionfile.Session {
	t.Helper()
	f, err := os.Open(filepath.Join(stories, name+".pipedeck"))
	require.NoError(t, err)
	defer f.Close()
	session, err := sessionfile.Read(f, 0)
	require.NoError(t, err)
	return session
}

// firstTime is when a stage, named by its id or by a part of its type, got a status first in the deployment of a
// commit.
func firstTime(t *testing.T, session *sessionfile.Session, commit, stage string,
	status deckv1.StageStatus) time.Duration {
	t.Helper()
	for _, record := range session.Records {
		d := record.GetEvent().GetDeployment()
		if d.GetCommit().GetMessage() != commit {
			continue
		}
		for _, s := range d.GetStages() {
			if (s.GetConfigId() == stage || strings.Contains(s.GetName(), stage)) && s.GetStatus() == status {
				return record.GetAt().AsDuration()
			}
		}
	}
	t.Fatalf("stage %s of %q is never %s", stage, commit, status)
	return 0
}
