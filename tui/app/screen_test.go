// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

var update = flag.Bool("update", false, "write the golden screens instead of comparing them")

// still is a model whose commands are not run and whose clock stands still.
func still(t testing.TB, environ ...string) *model {
	t.Helper()
	work := newWork(context.Background())
	t.Cleanup(work.stop)
	never := make(chan time.Time)
	look, err := theme.FromEnvironment(environ)
	require.NoError(t, err)
	m := newModel(Config{Name: "default", Version: "v0.1.0", Commander: "ada", Environ: environ}, look, work, clock{
		now:   decktest.Now,
		after: func(time.Duration) <-chan time.Time { return never },
	})
	m.host.send = func(tea.Msg) {}
	return m
}

func (m *model) see(objects ...proto.Message) {
	m.Update(connectedMsg{deckv1.NewDeckServiceClient(nil)})
	m.receive(append(objects, &deckv1.Synced{})...)
}

// receive takes events as the feed passes them on.
func (m *model) receive(objects ...proto.Message) {
	events := decktest.Events(objects...)
	for _, event := range events {
		text.CleanMessage(event)
	}
	m.Update(eventsMsg{events})
}

func (m *model) hear(severity logbuf.Severity, texts ...string) {
	for i, line := range texts {
		at := decktest.At(12 + float64(i)).AsTime()
		m.panes.log.reader.buffer.Append(logbuf.Line{Time: at, Severity: severity, Level: logbuf.Normal,
			Text: line})
	}
	m.Update(logMsg{log: m.panes.log.reader})
}

func (m *model) key(names ...string) tea.Cmd {
	var last tea.Cmd
	for _, name := range names {
		_, last = m.Update(keyPress(name))
	}
	return last
}

func keyPress(name string) tea.KeyPressMsg {
	switch name {
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft}
	case "pgup":
		return tea.KeyPressMsg{Code: tea.KeyPgUp}
	case "pgdown":
		return tea.KeyPressMsg{Code: tea.KeyPgDown}
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	case "ctrl+c":
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	case "ctrl+p":
		return tea.KeyPressMsg{Code: 'p', Mod: tea.ModCtrl}
	case "ctrl+u":
		return tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func (m *model) size(width, height int) { m.Update(tea.WindowSizeMsg{Width: width, Height: height}) }

// shows compares the screen with a golden file, and its size with the terminal's.
func (m *model) shows(t *testing.T, name string) {
	t.Helper()
	screen := m.View().Content
	lines := strings.Split(screen, "\n")
	require.Len(t, lines, m.screen.height)
	for i, line := range lines {
		require.Equalf(t, m.screen.width, ansi.StringWidth(line), "line %d: %q", i+1, line)
		require.Equalf(t, m.screen.width, ansi.StringWidthWc(line), "line %d: %q", i+1, line)
	}
	path := filepath.Join("testdata", name+".golden")
	plain := ansi.Strip(screen) + "\n"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(plain), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), plain, "go test ./tui/app -update writes the new screen")
}

func starting() []proto.Message {
	compiling := decktest.Component(2, "Kubernetes", "compiling the embedded server: 451 of 820 packages")
	compiling.State, compiling.EndedAt, compiling.Done, compiling.Total = deckv1.Component_STATE_STARTING, nil, 451, 820
	pending := decktest.Component(4, "piped", "")
	pending.State, pending.StartedAt, pending.EndedAt = deckv1.Component_STATE_PENDING, nil, nil
	return []proto.Message{
		decktest.Environment(), decktest.Component(0, "Preflight", "9 checks passed"),
		decktest.Component(1, "Control plane", "127.0.0.1:41327"), compiling, pending,
	}
}

// waiting is a screen in the middle of a canary that waits for approval.
func waiting(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := still(t, environ...)
	m.size(width, height)
	m.see(decktest.Running()...)
	m.hear(logbuf.Info, "Waiting for approval by one of: ada, grace",
		"Approve with a, or: pipedeck approve WAIT_APPROVAL")
	return m
}

func failed(t *testing.T, width, height int) *model {
	t.Helper()
	m := still(t)
	m.size(width, height)
	app := decktest.Application()
	app.Deploying, app.Sync = false, deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC
	m.see(append(decktest.Running(), app, decktest.Failed())...)
	m.hear(logbuf.Info, "Applying 3 objects", "Waiting for rollout: 0 of 2 updated replicas are available")
	m.hear(logbuf.Error,
		`Deployment hello-world exceeded its progress deadline: pod hello-world-7d4b9 is in ImagePullBackOff: `+
			`image "helloworld:v9" not found`)
	return m
}

func TestScreens(t *testing.T) {
	t.Parallel()
	for name, draw := range screens() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draw(t).shows(t, name)
		})
	}
}

// screens are fixed states of the UI by the name of their golden file.
func screens() map[string]func(t *testing.T) *model {
	all := map[string]func(t *testing.T) *model{
		"first-80x24": func(t *testing.T) *model { m := still(t); m.size(80, 24); return m },
		"startup-80x24": func(t *testing.T) *model {
			m := still(t)
			m.size(80, 24)
			m.see(starting()...)
			return m
		},
		"startup-failed-80x24": func(t *testing.T) *model {
			m := still(t)
			m.size(80, 24)
			failed := decktest.Component(2, "Kubernetes",
				"listen on 127.0.0.1:6443: address already in use by process 4711 (kind-control-plane)")
			failed.State, failed.Hint = deckv1.Component_STATE_FAILED, "stop that process, or let pipedeck choose "+
				"a port: pipedeck up --api-port 0"
			m.see(append(starting(), failed)...)
			return m
		},
		"main-80x24": func(t *testing.T) *model { return waiting(t, 80, 24) },
		"compiling-100x30": func(t *testing.T) *model {
			m := waiting(t, 100, 30)
			healthless := decktest.Application()
			healthless.Health = deckv1.HealthStatus_HEALTH_STATUS_UNKNOWN
			healthless.Sync = deckv1.SyncStatus_SYNC_STATUS_SYNCED
			healthless.Id, healthless.Name, healthless.LatestDeploymentId = "healthless", "healthless", ""
			healthless.Deploying = false
			m.see(append(starting(), healthless)...)
			return m
		},
		"main-100x30":    func(t *testing.T) *model { return waiting(t, 100, 30) },
		"main-120x40":    func(t *testing.T) *model { return waiting(t, 120, 40) },
		"main-180x45":    func(t *testing.T) *model { return waiting(t, 180, 45) },
		"ascii-80x24":    func(t *testing.T) *model { return waiting(t, 80, 24, "PIPEDECK_ASCII=1") },
		"no-color-80x24": func(t *testing.T) *model { return waiting(t, 80, 24, "NO_COLOR=1") },
		"contrast-80x24": func(t *testing.T) *model {
			return waiting(t, 80, 24,
				"PIPEDECK_THEME=high-contrast")
		},
		"failed-80x24":  func(t *testing.T) *model { return failed(t, 80, 24) },
		"failed-120x40": func(t *testing.T) *model { return failed(t, 120, 40) },
		"small-60x10":   func(t *testing.T) *model { return waiting(t, 60, 10) },
		"small-60x20":   func(t *testing.T) *model { return waiting(t, 60, 20) },
		"small-20x6":    func(t *testing.T) *model { return waiting(t, 20, 6) },
		"quit-20x6":     func(t *testing.T) *model { m := waiting(t, 20, 6); m.key("q"); return m },
		"small-9x3":     func(t *testing.T) *model { return waiting(t, 9, 3) },
		"help-80x24":    func(t *testing.T) *model { m := waiting(t, 80, 24); m.key("?"); return m },
		"help-120x40":   func(t *testing.T) *model { m := waiting(t, 120, 40); m.key("?"); return m },
		"quit-80x24":    func(t *testing.T) *model { m := waiting(t, 80, 24); m.key("q"); return m },
		"help-find-80x24": func(t *testing.T) *model {
			m := waiting(t, 80, 24)
			m.key("3", "?", "/", "w", "r", "a", "p")
			return m
		},
		"palette-80x24": func(t *testing.T) *model { m := waiting(t, 80, 24); m.key(":"); return m },
		"palette-find-80x24": func(t *testing.T) *model {
			m := waiting(t, 80, 24)
			m.key("ctrl+p", "o", "p", "e", "n")
			return m
		},
		"sync-80x24":    func(t *testing.T) *model { m := waiting(t, 80, 24); m.key("s"); return m },
		"filter-80x24":  func(t *testing.T) *model { return filtered(t, 80, 24) },
		"unknown-80x24": func(t *testing.T) *model { m := waiting(t, 80, 24); m.key("x"); return m },
		"cancel-80x24":  func(t *testing.T) *model { m := waiting(t, 80, 24); m.key("c"); return m },
		"refused-80x24": func(t *testing.T) *model { m := waiting(t, 80, 24); m.key("up", "a"); return m },
		"environment":   func(t *testing.T) *model { m := waiting(t, 100, 30); m.key("e"); return m },
		"mistake-80x24": func(t *testing.T) *model {
			m := waiting(t, 80, 24)
			m.receive(decktest.Mistake())
			return m
		},
		"mistake-120x40": func(t *testing.T) *model {
			m := waiting(t, 120, 40)
			done := decktest.Canary()
			done.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
			for _, stage := range done.Stages {
				stage.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
			}
			m.receive(done)
			m.receive(decktest.Mistake())
			return m
		},
		"degraded-80x24":       func(t *testing.T) *model { return degraded(t, 80, 24) },
		"degraded-120x40":      func(t *testing.T) *model { return degraded(t, 120, 40) },
		"degraded-ascii-80x24": func(t *testing.T) *model { return degraded(t, 80, 24, "PIPEDECK_ASCII=1") },
		"degraded-environment": func(t *testing.T) *model { m := degraded(t, 100, 30); m.key("e"); return m },
		"search-80x24": func(t *testing.T) *model {
			m := waiting(t, 80, 24)
			m.key("3", "/", "a", "p",
				"p")
			return m
		},
		"plugins-80x24":         func(t *testing.T) *model { m := waiting(t, 80, 24); m.key("4"); return m },
		"plugins-120x40":        func(t *testing.T) *model { return failedPlugin(t) },
		"history-80x24":         func(t *testing.T) *model { return withHistory(t) },
		"resources-100x30":      func(t *testing.T) *model { return withResources(t, 100, 30) },
		"resources-ascii-80x24": func(t *testing.T) *model { return withResources(t, 80, 24, "PIPEDECK_ASCII=1") },
		"resources-none-80x24": func(t *testing.T) *model {
			m := waiting(t, 80, 24)
			m.key("t")
			m.Update(resourcesMsg{watch: m.panes.resources.watch,
				response: &deckv1.WatchResourcesResponse{Complete: true}})
			return m
		},
		"invalid-80x24":   func(t *testing.T) *model { return invalid(t) },
		"parallel-100x30": func(t *testing.T) *model { return parallel(t) },
		"reconnecting-80x24": func(t *testing.T) *model {
			m := waiting(t, 80, 24)
			m.Update(disconnectedMsg{err: errors.New("connection refused")})
			return m
		},
	}
	maps.Copy(all, firstScreens())
	return all
}

// filtered is a screen of many applications while a filter is typed.
func filtered(t *testing.T, width, height int) *model {
	t.Helper()
	m := waiting(t, width, height)
	for _, name := range []string{"payments-us", "payments-eu", "search", "catalog", "payments-usage"} {
		app := decktest.Application()
		app.Id, app.Name, app.Deploying, app.LatestDeploymentId = name, name, false, ""
		app.Sync = deckv1.SyncStatus_SYNC_STATUS_SYNCED
		m.receive(app)
	}
	m.key("1", "/", "p", "a", "y", " ", "u", "s")
	return m
}

// degraded is a screen of an environment with two problems.
func degraded(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := waiting(t, width, height, environ...)
	for _, p := range decktest.Problems() {
		m.receive(p)
	}
	cluster := decktest.Component(2, "Kubernetes", decktest.Problems()[0].GetReason())
	cluster.State, cluster.Hint = deckv1.Component_STATE_DEGRADED, decktest.Problems()[0].GetNextStep()
	m.receive(cluster)
	return m
}

func TestTheHeaderIsNotGreenWhileAnythingIsDegraded(t *testing.T) {
	t.Parallel()
	m := degraded(t, 120, 40)
	header := strings.Split(m.View().Content, "\n")[0]
	require.Contains(t, header, "degraded: 2 problems: Kubernetes")
	require.NotContains(t, header, "ready")
	warn := m.host.theme.Tones.Warn
	warning, _, _ := strings.Cut(warn.Render("x"), "x")
	require.Contains(t, header, warn.Sign("!")+warning+" degraded", "it has the colour of a warning")
	for _, p := range decktest.Problems() {
		m.receive(&deckv1.Removed{ProblemId: p.GetId()})
	}
	m.receive(decktest.Component(2, "Kubernetes", "embedded, v1.36.3"))
	require.Contains(t, m.View().Content,
		m.host.theme.Tones.Good.Sign("✓")+m.host.theme.Good.Render(" 5 parts, 4 plugins ready"))
}

func TestTheHeaderCountsWhatNeedsAPersonAndIsNotGreenThen(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 40)
	header := func() string { return strings.Split(m.View().Content, "\n")[0] }
	require.Contains(t, ansi.Strip(header()), "◆ 1 waits for you   ✓ 5 parts, 4 plugins ready")
	m.receive(decktest.Synced(), decktest.NamedFailed())
	require.Contains(t, ansi.Strip(header()), "✗ 1 app failed   5 parts, 4 plugins ready")
	require.NotContains(t, header(), m.host.theme.Tones.Good.Sign("✓"))
	retried := decktest.NamedFailed()
	retried.Id, retried.CreatedAt = "dep-2", decktest.At(60)
	retried.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED
	m.receive(retried)
	require.Contains(t, ansi.Strip(header()), "✗ 1 app failed", "a cancelled retry brings no success")
	require.Contains(t, ansi.Strip(m.View().Content), "✗ hello-world")
	sick := decktest.Synced()
	sick.Id, sick.Name, sick.Health = "app-2", "search", deckv1.HealthStatus_HEALTH_STATUS_OTHER
	m.receive(sick)
	require.Contains(t, ansi.Strip(header()), "! 1 app unhealthy")
	m.size(72, 20)
	require.Contains(t, ansi.Strip(header()), "✗ 1  ! 1")
	m.size(120, 40)
	quarantined := decktest.Plugins()[0]
	quarantined.State = deckv1.Plugin_STATE_FAILED
	m.receive(quarantined)
	require.Contains(t, ansi.Strip(header()), "✗ 1 of 4 plugins failed")
	quarantined.State = deckv1.Plugin_STATE_RESTARTING
	m.receive(quarantined)
	require.Contains(t, ansi.Strip(header()), "● 3 of 4 plugins running")
}

func failedPlugin(t *testing.T) *model {
	m := waiting(t, 120, 40)
	crashed := decktest.Plugins()[1]
	crashed.State, crashed.Pid, crashed.Restarts, crashed.RssBytes = deckv1.Plugin_STATE_FAILED, 0, 3, 0
	crashed.Detail = "exited with status 2 three times within a minute and is not started again"
	crashed.LastOutput = []string{"panic: runtime error: invalid memory address or nil pointer dereference", "",
		"goroutine 1 [running]:", "main.main()", "\t/src/main.go:12 +0x1d", "exit status 2"}
	m.receive(crashed)
	m.key("4", "down")
	return m
}

func withResources(t *testing.T, width, height int, environ ...string) *model {
	m := waiting(t, width, height, environ...)
	app := decktest.Application()
	app.Resources = &deckv1.ResourceCounts{Total: 6, Unhealthy: 3, Drifted: 2}
	m.receive(app)
	m.key("t")
	m.Update(resourcesMsg{watch: m.panes.resources.watch,
		response: &deckv1.WatchResourcesResponse{Resources: decktest.Resources(), Complete: true}})
	m.key("n")
	return m
}

func withHistory(t *testing.T) *model {
	m := waiting(t, 80, 24)
	older := decktest.Failed()
	older.Id, older.CreatedAt, older.CompletedAt = "dep-0", decktest.At(-4000), decktest.At(-3960)
	older.Commit.Hash, older.Commit.Message = "77aa11bb22cc", "Try the next image"
	m.receive(older)
	m.key("d", "down")
	return m
}

func invalid(t *testing.T) *model {
	m := still(t)
	m.size(80, 24)
	app := decktest.Application()
	app.Deploying, app.Sync, app.Health = false, deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG, 0
	app.SyncShortReason = "app.pipecd.yaml:7:5: unknown field"
	app.SyncReason = `hello-world/app.pipecd.yaml:7:5: unknown field "stagez" in spec.pipeline; did you mean "stages"?`
	m.see(decktest.Environment(), app)
	return m
}

func parallel(t *testing.T) *model {
	m := waiting(t, 100, 30)
	d := decktest.Canary()
	d.Id, d.CreatedAt = "dep-2", decktest.At(30)
	names := []string{"SCRIPT_RUN", "TEST_UNIT", "TEST_BROWSER", "LINT", "K8S_SYNC"}
	d.Stages = nil
	for i, name := range names {
		d.Stages = append(d.Stages, &deckv1.Stage{Id: name, Name: name, Index: int32(i),
			Status: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED})
	}
	for _, s := range d.Stages[1:4] {
		s.Requires, s.StartedAt = []string{"SCRIPT_RUN"}, decktest.At(33)
		s.Status = deckv1.StageStatus_STAGE_STATUS_RUNNING
	}
	d.Stages[0].Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
	d.Stages[0].StartedAt, d.Stages[0].CompletedAt = decktest.At(30), decktest.At(33)
	d.Stages[3].Status, d.Stages[3].CompletedAt = deckv1.StageStatus_STAGE_STATUS_SKIPPED, decktest.At(33.2)
	d.Stages[4].Requires = []string{"TEST_UNIT", "TEST_BROWSER", "LINT"}
	m.receive(d)
	return m
}

func TestNoColorDrawsNoColor(t *testing.T) {
	t.Parallel()
	color := regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m`)
	require.Regexp(t, color, waiting(t, 80, 24).View().Content)
	require.NotRegexp(t, color, waiting(t, 80, 24, "NO_COLOR=1").View().Content)
}

func TestTheScreenIsExactInEverySize(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	for _, keys := range [][]string{{"2"}, {"4"}, {"e"}, {"d"}, {"?"}, {"esc", "q"}} {
		m.key(keys...)
		for width := 1; width <= 200; width += 21 {
			for height := 1; height <= 60; height += 9 {
				m.size(width, height)
				lines := strings.Split(m.View().Content, "\n")
				require.Lenf(t, lines, height, "%v at %dx%d", keys, width, height)
				for _, line := range lines {
					if text.Width(line) != width {
						t.Fatalf("%v at %dx%d: %q", keys, width, height, line)
					}
				}
			}
		}
		m.size(80, 24)
		m.key("esc")
	}
}

func TestHostileTextDoesNotBreakTheScreen(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(80, 24)
	app, d := decktest.Application(), decktest.Canary()
	app.Name = "evil\x1b[2J\x1b[1;1H\u202e\tname" + strings.Repeat("日本", 60)
	d.Commit.Message = "\x1b]0;owned\x07" + strings.Repeat("x", 500) + "\n\nmore"
	d.Stages[2].Name = strings.Repeat("LONG_", 40)
	d.StatusReason = strings.Repeat("because ", 200)
	d.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK
	m.see(app, d)
	hostile := &deckv1.LogBlock{Text: "a\x1b[2Jb\r\nc\x00\x9b31m" + strings.Repeat("é", 300)}
	m.panes.log.reader.buffer.Append(logbuf.AppendBlock(nil, hostile)...)
	screen := m.View().Content
	for _, line := range strings.Split(screen, "\n") {
		require.Equal(t, 80, ansi.StringWidth(line))
	}
	require.NotContains(t, screen, "\x1b[2J")
	require.NotContains(t, screen, "owned")
	require.NotContains(t, ansi.Strip(screen), "\u202e")
}
