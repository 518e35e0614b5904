// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/film"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestAnExportSaysWhatItsFileHas(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	for _, stage := range decktest.Canary().GetStages() {
		server.CompleteLog(stage.GetId())
	}
	server.Resources(decktest.Application().GetId(), &deckv1.WatchResourcesResponse{Complete: true})
	stateDir, dir := clitest.Running(t, server.Address()), t.TempDir()
	file := filepath.Join(dir, "report.pipedeck")
	code, stdout, stderr := clitest.Run(t.Context(), Commands, stateDir, "export", file, "-o", "json")
	require.Zero(t, code, stderr)
	var exported document.Exported
	clitest.Document(t, "exported", stdout, &exported)
	require.True(t, exported.Running)
	require.Equal(t, file, exported.File)
	require.Equal(t, 1, exported.Applications)
	require.Equal(t, 1, exported.Deployments)
	require.Empty(t, exported.Missing)
	require.Positive(t, exported.Bytes)

	code, stdout, stderr = clitest.Run(t.Context(), Commands, stateDir, "export", filepath.Join(dir, "again"))
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "1 application, 1 deployment)\n  look at it:   pipedeck replay "+dir)
}

func TestAnEnvironmentWithoutAHistoryIsNotExported(t *testing.T) {
	t.Parallel()
	stateDir, file := t.TempDir(), filepath.Join(t.TempDir(), "report.pipedeck")
	refused := func() {
		t.Helper()
		code, _, stderr := clitest.Run(t.Context(), Commands, stateDir, "export", file)
		require.Equal(t, 3, code)
		require.Contains(t, stderr, "no environment \"default\" is running\nnext step: start it with: pipedeck up")
		require.NoFileExists(t, file)
	}
	refused()
	created(t, stateDir, "default")
	refused()
}

// recordedTour is the file of a recorded session.
const recordedTour = "../../../devenv/sessionfile/testdata/format-1.pipedeck"

func TestARecordedSessionBecomesAPictureAndARecordingOfTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svg, cast := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.cast")
	args := []string{"export", "--from", recordedTour, "--svg", svg, "--cast", cast, "--columns", "100", "--rows", "30",
		"--at", "20s", "-o", "json"}
	code, stdout, stderr := clitest.Run(t.Context(), Commands, t.TempDir(), args...)
	require.Zero(t, code, stderr)
	var exported document.Exported
	clitest.Document(t, "exported", stdout, &exported)
	require.Equal(t, []string{svg, cast, "", "demo"}, []string{exported.SVG, exported.Cast, exported.File,
		exported.Environment})
	drawn, err := os.ReadFile(svg)
	require.NoError(t, err)
	require.Contains(t, string(drawn), "hello-world")
	header, err := os.ReadFile(cast)
	require.NoError(t, err)
	require.Contains(t, string(header[:100]), `{"version":2,"width":100,"height":30,`)

	code, _, stderr = clitest.Run(t.Context(), Commands, t.TempDir(), args...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, svg+" exists already")
}

func TestARunningEnvironmentBecomesAPictureAndARecordingOfTheTerminal(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	for _, stage := range decktest.Canary().GetStages() {
		server.CompleteLog(stage.GetId())
	}
	server.Resources(decktest.Application().GetId(), &deckv1.WatchResourcesResponse{Complete: true})
	stateDir, dir := clitest.Running(t, server.Address()), t.TempDir()
	// The state of the environment is in the shortest recording, although it takes longer to come.
	for _, args := range [][]string{{"--svg", filepath.Join(dir, "a.svg")},
		{"--cast", filepath.Join(dir, "a.cast"), "--for", "1ms"}} {
		code, _, stderr := clitest.Run(t.Context(), Commands, stateDir, append([]string{"export"}, args...)...)
		require.Zero(t, code, stderr)
		written, err := os.ReadFile(args[1])
		require.NoError(t, err)
		require.Contains(t, string(written), "hello-world")
	}
}

func TestWrongFlagsOfExportAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.svg")
	for _, c := range []struct{ args, says string }{
		{"export", "there is nothing to write"},
		{"export --from " + recordedTour, "there is nothing to write\nnext step: give --svg FILE or --cast FILE"},
		{"export --from " + recordedTour + " --svg " + file + " --at 9h",
			"--at 9h0m0s is after the end of the session"},
		{"export x --from " + recordedTour + " --svg " + file, "is a recorded session already"},
		{"export --svg " + file + " --at 2s", "--at is about a picture of a recorded session"},
		{"export --svg " + file + " --for 2s", "--for is about a recording of an environment"},
		{"export --svg " + file + " --columns 1000000", "--columns 1000000 is not from 40 to 500"},
		{"export --svg " + file + " --rows 0", "--rows 0 is not from 10 to 200"},
		{"export --svg " + file + " --speed NaN", "--speed NaN is not from 0.1 to 100"},
		{"export --svg " + file + " --idle-limit=-1s", "are not negative"},
		{"export --from " + recordedTour + " --svg - --cast -", "cannot both go to standard output"},
		{"export --from " + recordedTour + " --svg - -o json", "standard output cannot have both"},
		{"export -", "a session is written to a file, not to standard output"},
		{"export --svg " + file + " --theme pink", "unknown theme \"pink\""},
		{"export --from export_test.go --svg " + file, "is not a recorded session"},
	} {
		code, _, stderr := clitest.Run(t.Context(), Commands, t.TempDir(), strings.Fields(c.args)...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, stderr, c.says)
		require.Contains(t, stderr, "\nnext step: ")
		require.NoFileExists(t, file)
	}
}

func TestAPictureOrARecordingOfTheTerminalGoesToStandardOutput(t *testing.T) {
	t.Parallel()
	for flag, begins := range map[string]string{"--svg": "<svg ", "--cast": `{"version":2,`} {
		code, stdout, stderr := clitest.Run(t.Context(), Commands, t.TempDir(), "export", "--from", recordedTour,
			flag, "-")
		require.Zero(t, code, stderr)
		require.True(t, strings.HasPrefix(stdout, begins), flag)
		require.Empty(t, stderr)
		require.NotContains(t, stdout, "wrote ")
	}
	require.NoFileExists(t, "-")
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFullDiskIsOneErrorOfARecording(t *testing.T) {
	t.Parallel()
	recorded, err := openSession(recordedTour)
	require.NoError(t, err)
	f := &filmFlags{columns: 100, rows: 30, speed: 1}
	err = buffered(fullDisk{}, func(to io.Writer) error {
		return f.show(recorded, func(reel *player.Reel, o film.Options) error {
			return film.Cast(t.Context(), reel, o, to)
		})
	})
	require.EqualError(t, err, "no space left on device")
}
