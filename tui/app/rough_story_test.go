// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestKeysAreAnsweredInAFloodOfLogLines(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 120, 36, seams{})
	s.seesText("press a to approve")
	const batch, batches = 1000, 100
	lines := make([]string, batch)
	for b := range batches {
		for i := range lines {
			lines[i] = fmt.Sprintf("line %06d of the flood", b*batch+i)
		}
		server.Log("s3", deckv1.Severity_SEVERITY_INFO, lines...)
		switch b {
		case 20:
			s.types("3g")
			s.seesText("line 000000 of", "pinned")
		case 60:
			s.types("a")
			require.True(t, proto.Equal(approval("ada"), call(t, server)))
			s.seesText("approved WAIT_APPROVAL", "line 000000 of")
		}
	}
	s.types("f")
	s.seesText("line 099999 of the flood", "100,000 lines")
	s.types("/line 050000\r")
	s.seesText("1 of 1 hit", "line 050000 of the flood")
	require.Empty(t, server.Calls)
}

func TestAQuarantinedPluginIsSeenEverywhereAndRestarted(t *testing.T) {
	t.Parallel()
	for _, size := range storySizes[3:9] {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			broken := decktest.Plugins()[2]
			broken.State, broken.Pid, broken.Restarts = deckv1.Plugin_STATE_FAILED, 0, 5
			broken.Detail = "quarantined: it ended 5 times within a minute: exit status 2"
			broken.LastOutput = []string{"panic: missing duration", "goroutine 1 [running]:", "exit status 2"}
			problem := decktest.Problems()[1]
			server.Publish(broken, problem)
			s := play(t, dial(t, server), size[0], size[1], seams{})
			s.seesText("degraded")
			s.types("4/failed\r")
			s.seesText("wait", "panic: missing duration")
			s.types("e")
			s.seesText("quarantined")
			s.types("4r")
			s.seesText("Restart wait?")
			s.types("y")
			require.True(t, proto.Equal(&deckv1.RestartPluginRequest{Name: "wait"}, call(t, server)))
			server.Publish(decktest.Plugins()[2], &deckv1.Removed{ProblemId: problem.GetId()})
			s.losesText("degraded")
			require.Empty(t, server.Calls)
		})
	}
}

func TestAChoiceSurvivesALostConnection(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(shop()...)
	s := play(t, dial(t, server), 120, 36, seams{})
	s.seesText("press a to approve", "payments-us")
	s.types("1/catalog\r")
	s.seesText("2 Deployment · catalog")
	s.losesText("payments-us")
	s.types("\x1b")
	s.seesText("2 Deployment · catalog", "payments-us")
	for range 3 {
		server.Break()
		s.settled()
	}
	app := decktest.Application()
	app.Id, app.Name, app.LatestDeploymentId, app.Deploying = "catalog", "catalogue", "", false
	server.Publish(app)
	s.seesText("2 Deployment · catalogue")
	s.types("sy")
	require.True(t, proto.Equal(&deckv1.SyncApplicationRequest{ApplicationId: "catalog"}, call(t, server)))
}

// wideWords are words and others of the same width; joinedWords have code points that only some terminals join.
var (
	wideWords = [][2]string{{"支払い🚀", "abcd;fgh"}, {"検査段階", "ijklmnop"},
		{"日本語", "qrstuv"}, {"빌드", "wxyz"},
		{"café", "late"}, {"完了", "ABCD"}}
	joinedWords = [][2]string{{"👨\u200d👩\u200d👧", "EF"}, {"🇯🇵", "GH"}, {"👍🏽", "IJ"}}
)

// A screen of wide characters is that of narrow ones of the same width, cell by cell.
func TestWideCharactersStandWhereNarrowOnesOfTheSameWidthWould(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {100, 30}, {130, 30}} {
		for _, clusters := range []bool{false, true} {
			t.Run(fmt.Sprint(size, " clusters ", clusters), func(t *testing.T) {
				t.Parallel()
				words := wideWords
				if clusters {
					words = slices.Concat(words, joinedWords)
				}
				var screens [2][]string
				for column := range screens {
					pick := func(i int) string { return wideWords[i%len(wideWords)][column] }
					server := decktest.Start(t)
					server.Publish(worded(pick)...)
					var lines []string
					for _, word := range words {
						lines = append(lines, strings.Repeat(word[column]+" and ", 12)+"the end")
					}
					server.Log("s3", deckv1.Severity_SEVERITY_INFO, lines...)
					s := session{client: dial(t, server), width: size[0], height: size[1], seams: noon(),
						clusters: clusters}.start(t, t.Context())
					s.seesText("RUNNING", fmt.Sprintf("%d lines", len(lines)))
					for _, keys := range []string{"2", "1", "3", "d", "2i"} {
						s.types(keys)
						screens[column] = append(screens[column], s.settled())
					}
					s.isWhole()
					for _, keys := range []string{"2v", "3w", "l", "l", "z"} { // which cuts characters in half
						s.types(keys)
						s.isWhole()
					}
				}
				for i, screen := range screens[0] {
					require.Equal(t, screens[1][i], narrowed(screen, words))
				}
			})
		}
	}
}

// worded are the objects of the example with other words.
func worded(pick func(i int) string) []proto.Message {
	objects := decktest.Running()
	app, d := decktest.Application(), decktest.Canary()
	app.Name = pick(0)
	d.ApplicationName, d.Commit.Message, d.Commit.Author = pick(0), pick(2)+" "+pick(4), pick(3)
	for i, stage := range d.Stages {
		stage.ConfigId = fmt.Sprint(i, "-", pick(i+1))
	}
	d.Summary = pick(5) + " " + pick(1)
	return append(objects[:len(objects)-2], app, d)
}

// narrowed has the narrow words in place of the wide ones.
func narrowed(screen string, words [][2]string) string {
	for _, pair := range words {
		screen = strings.ReplaceAll(screen, drawn(pair[0]), pair[1])
	}
	return screen
}

// drawn is how the emulated screen holds a word.
func drawn(word string) string {
	f := privateFilter{clusters: true}
	return strings.TrimSuffix(string(f.wide([]byte(word+" "))), " ")
}
