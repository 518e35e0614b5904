// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANewcomerSeesHelloWorldDeployedThenApprovesACanary(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("up", "--sample", "hello-world", "--cluster", "embedded"), 120, 36)
	ui.sees(`hello-world`)
	ui.sees(`SUCCESS|Succeeded|succeeded`)
	e.awaitDeployment("hello-world", "SUCCESS")
	e.awaitDeployment("hello-world-quick", "SUCCESS")

	e.edit("hello-world/deployment.yaml", "value: Hello, world!", "value: Good morning!", "Say good morning")
	ui.sees(`Say good morning`)
	ui.sees(`[✓●] +canary`)
	ui.sees(`○ +clean`)
	e.awaitStage("hello-world", "WAIT_APPROVAL", "RUNNING")
	ui.sees(`a approve`)
	ui.presses("a")
	e.awaitStage("hello-world", "WAIT_APPROVAL", "SUCCESS")
	e.awaitStage("hello-world", "K8S_CANARY_CLEAN", "SUCCESS")
	e.awaitDeployment("hello-world", "SUCCESS")
	require.Contains(t, e.pipedeck("logs", "hello-world", "--stage", "check").Stdout, "everything looks fine")

	ui.presses("?")
	ui.sees(`approve the selected stage`)
	ui.presses("\x1b")
	ui.loses(`approve the selected stage`)
	ui.presses("q")
	ui.sees(`keep it running`)
	ui.presses("y")
	require.Zero(t, ui.wait())
	require.True(t, ui.restored(), "the terminal is as it was")
	require.Contains(t, ui.output(), "pipedeck attach")

	again := openTerminal(t, e.command("up"), 120, 36)
	again.sees(`hello-world`)
	again.presses("q")
	again.sees(`tear it down`)
	again.presses("t")
	again.sees(`type its name`)
	again.presses("story\r")
	require.Zero(t, again.wait())
	e.leavesNothing()
}

func TestAnEnvironmentThatCannotStartSaysWhyOnTheTerminal(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("up", "--sample", "hello-world", "--cluster", "embedded"), 120, 36,
		"PIPEDECK_EMBEDDEDK8S=/nowhere/embeddedk8s")
	require.Equal(t, 3, ui.wait())
	require.True(t, ui.restored(), "the terminal is as it was")
	require.Contains(t, ui.output(), "/nowhere/embeddedk8s")
	require.Contains(t, ui.output(), "next step:")
}

func TestABadManifestRollsBackWithTheReasonOnScreen(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("up", "--sample", "hello-world", "--cluster", "embedded"), 120, 36)
	e.awaitDeployment("hello-world-quick", "SUCCESS")
	e.awaitDeployment("hello-world", "SUCCESS")

	e.edit("hello-world/deployment.yaml", "image: pipedeck.dev/hello-world:v1",
		"image: registry.invalid/hello-world:v2", "Use an image that is not there")
	e.awaitDeployment("hello-world", "FAILURE")
	ui.sees(`Use an image that is not there`)
	ui.until("the reason is on screen", func(screen string) bool {
		return strings.Contains(screen, "registry.invalid") || strings.Contains(screen, "ImagePullBackOff") ||
			strings.Contains(screen, "ErrImagePull")
	})
	var stages []string
	for _, s := range e.newestDeployment("hello-world")["stages"].([]any) {
		stage := s.(map[string]any)
		stages = append(stages, stage["name"].(string)+" "+stage["status"].(string))
	}
	require.Contains(t, stages, "K8S_CANARY_ROLLOUT FAILURE")
	require.Contains(t, stages, "K8S_ROLLBACK SUCCESS")
}

func TestTheUIWorksOnASmallScreenWithoutColoursAndSurvivesResizing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("up", "--sample", "hello-world", "--cluster", "embedded"), 80, 24, "NO_COLOR=1")
	ui.sees(`hello-world`)
	ui.resize(60, 10)
	ui.sees(`[0-9]+/[0-9]+`) // the stages that are done
	ui.resize(100, 30)
	ui.sees(`hello-world`)
	ui.presses("?")
	ui.sees(`Keys`)
	ui.presses("\x1b")
	ui.loses(`Keys`)
	ui.presses("q")
	ui.sees(`tear it down`)
	ui.presses("t")
	ui.sees(`type its name`)
	ui.presses("story\r")
	require.Zero(t, ui.wait())
	require.True(t, ui.restored())
	colours := regexp.MustCompile(`\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m`)
	require.NotRegexp(t, colours, ui.output(), "NO_COLOR is honoured")
	e.leavesNothing()
}

func TestSearchTypedInAnyPaneStartsNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("up", "--sample", "hello-world", "--cluster", "embedded"), 120, 36)
	e.awaitDeployment("hello-world", "SUCCESS")
	e.awaitDeployment("hello-world-quick", "SUCCESS")
	before := len(e.list("deployments"))
	for _, pane := range []string{"1", "4", "e", "d", "t", "2", "3"} {
		ui.presses(pane)
		ui.presses("/search")
		ui.sees(`/search`)
		ui.presses("\x1b")
		ui.loses(`/search`)
		ui.presses("2")
		ui.sees(`c cancel|s sync`)
	}
	ui.presses("s") // the same letter where it is a key
	ui.sees(`Deploy the newest commit of`)
	ui.presses("y")
	waitUntil(t, "the deployment that was asked for", func() bool { return len(e.list("deployments")) > before })
	require.Len(t, e.list("deployments"), before+1, "nothing else was started")
}

func TestAStageWithNamedApproversIsApprovedInAnEnvironment(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("up", "--sample", "hello-world", "--cluster", "embedded"), 120, 36)
	e.awaitDeployment("hello-world", "SUCCESS")
	e.edit("hello-world/app.pipecd.yaml", "minApproverNum: 1", "approvers: [alice]", "Ask Alice")
	e.edit("hello-world/deployment.yaml", "value: Hello, world!", "value: Good morning!", "Say good morning")
	e.awaitStage("hello-world", "WAIT_APPROVAL", "RUNNING")
	ui.sees(`press a as alice`)
	refused := e.pipedeck("approve", "hello-world")
	require.Equal(t, 2, refused.Code)
	require.Contains(t, refused.Stderr, "needs an approval of alice")
	require.Contains(t, refused.Stderr, "pipedeck approve hello-world approve --as alice")
	require.Zero(t, e.pipedeck("approve", "hello-world", "approve", "--as", "alice").Code)
	e.awaitStage("hello-world", "WAIT_APPROVAL", "SUCCESS")
	require.Contains(t, e.pipedeck("logs", "hello-world", "--stage", "WAIT_APPROVAL").Stdout, "Approved by alice")
	require.Contains(t, e.pipedeck("deployments", "-o", "json").Stdout, "approved as alice")
}

// newestDeployment returns an application's newest deployment, or nil.
func (e *environment) newestDeployment(app string) map[string]any {
	e.t.Helper()
	for _, d := range e.list("deployments") {
		if d["app"] == app {
			return d
		}
	}
	return nil
}

func (e *environment) awaitDeployment(app, status string) {
	e.t.Helper()
	waitUntil(e.t, app+" "+status, func() bool {
		return e.running() && e.newestDeployment(app)["status"] == status
	})
}

func (e *environment) awaitStage(app, stage, status string) {
	e.t.Helper()
	waitUntil(e.t, stage+" "+status, func() bool {
		stages, _ := e.newestDeployment(app)["stages"].([]any)
		for _, s := range stages {
			s := s.(map[string]any)
			if s["name"] == stage && s["status"] == status {
				return true
			}
		}
		return false
	})
}

// running reports whether the environment answers.
func (e *environment) running() bool {
	return e.pipedeck("status").Code == 0
}
