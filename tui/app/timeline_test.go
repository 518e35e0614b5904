// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// wrote is an example plugin that has ended these lines, each n seconds after the start of the example.
func wrote(plugin int, total int64, lines map[float64]string, order ...float64) *deckv1.Plugin {
	p := decktest.Plugins()[plugin]
	p.LastOutput, p.OutputLines = nil, total
	for _, n := range order {
		p.LastOutput = append(p.LastOutput, lines[n])
		p.LastOutputAt = append(p.LastOutputAt, decktest.At(n))
	}
	return p
}

// inOrder reports whether texts stand on the screen in this order.
func inOrder(texts ...string) func(string) bool {
	return func(screen string) bool {
		for _, text := range texts {
			_, rest, found := strings.Cut(screen, text)
			if !found {
				return false
			}
			screen = rest
		}
		return true
	}
}

func TestTheStagesOfADeploymentAndTheirPluginsShareATimeLine(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Publish(
		wrote(0, 2, map[float64]string{-100: "before the deployment", 1: "W0101 10:00:00.000001 1 a.go:1] slow API"},
			-100, 1),
		wrote(3, 1, map[float64]string{13: "asked the chat"}, 13))
	server.LogAt("s1", 0.5, "applying 3 objects")
	server.LogAt("s1", 1.5, "canary is ready")
	server.CompleteLog("s1")
	server.LogAt("s2", 2, "waiting 10 s")
	server.CompleteLog("s2")
	server.LogAt("s3", 12, "Waiting for approval")
	s := play(t, dial(t, server), 140, 40, seams{})
	s.seesText("press a to approve", "Waiting for approval")
	s.losesText("canary is ready")
	s.types("3m")
	s.seesText("3 Log · all stages", "K8S_CANARY_ROLL…")
	s.sees("the lines by their times", inOrder("applying 3 objects", "canary is ready", "waiting 10 s",
		"Waiting for approval"))
	s.losesText("slow API")
	s.types("p")
	s.seesText("3 Log · all stages + plugins")
	s.sees("the output of plugins between them", inOrder("applying 3 objects", "! kubernetes", "slow API",
		"canary is ready", "waiting 10 s", "Waiting for approval", "· waitapproval", "asked the chat"))
	s.losesText("before the deployment")

	server.LogAt("s3", 14, "alice approved")
	s.seesText("alice approved") // new lines stand in the order in which they come
	server.Publish(wrote(3, 2, map[float64]string{13: "asked the chat", 15: "wrote to the chat"}, 13, 15))
	s.sees("what is new", inOrder("asked the chat", "alice approved", "wrote to the chat"))
	s.types("p") // kubernetes alone
	s.seesText("all stages + kubernetes", "slow API")
	s.losesText("asked the chat")
	s.types("pp") // wait, waitapproval
	s.seesText("all stages + waitapproval", "wrote to the chat")
	s.losesText("slow API")
	s.types("m") // the selected stage alone, with its plugin
	s.seesText("3 Log · WAIT_APPROVAL", "+ waitapproval", "wrote to the chat")
	s.losesText("canary is ready")
	s.types("p")
	s.losesText("wrote to the chat")
	s.seesText("Waiting for approval", "alice approved")
	require.Empty(t, server.Calls)
}

func TestATimeLineHasALevelASearchAndAFile(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Publish(wrote(0, 1, map[float64]string{1: "ERROR: no route"}, 1))
	server.LogAt("s1", 0.5, "applying 3 objects")
	server.LogAt("s3", 12, "Waiting for approval")
	s := play(t, dial(t, server), 140, 40, seams{})
	s.seesText("press a to approve", "Waiting for approval")
	s.types("3mp")
	s.seesText("no route", "applying", "3 lines")
	s.types("LLL")
	s.seesText("level error and above", "no route")
	s.losesText("applying")
	s.types("L/route\r")
	s.seesText("1 of 1 hit")
	s.types("W")
	s.seesText("saved 3 lines to")
}

func TestAReaderStaysAtTheTimeWhenTheOutputOfPluginsComes(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Publish(wrote(3, 1, map[float64]string{12.5: "early words"}, 12.5))
	for i := range 200 {
		server.LogAt("s3", 13+float64(i)/10, "line "+strings.Repeat("x", i%3)+" end "+timeName(i))
	}
	s := play(t, dial(t, server), 140, 30, seams{})
	s.seesText("press a to approve", "end n199.")
	s.types("3gjjjjjjjjjj")
	s.seesText("end n010.", "pinned")
	s.types("p")
	s.seesText("+ waitapproval", "end n010.", "pinned")
	s.losesText("end n009.")
}

func timeName(i int) string {
	return "n" + string([]byte{byte('0' + i/100), byte('0' + i/10%10), byte('0' + i%10)}) + "."
}

func TestATimeLineGoesOnWithAStageThatStarts(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.LogAt("s1", 0.5, "applying 3 objects")
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("press a to approve")
	s.types("3m")
	s.seesText("all stages", "applying 3 objects")
	server.LogAt("s4", 21, "rolling out the primary")
	next := decktest.Canary()
	next.Stages[2].Status, next.Stages[2].CompletedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, decktest.At(20)
	next.Stages[2].CanApprove = false
	next.Stages[3].Status, next.Stages[3].StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING,
		timestamppb.New(decktest.At(20).AsTime())
	server.Publish(next)
	s.sees("both", inOrder("applying 3 objects", "rolling out the primary"))
	s.types("2\r") // the log of the stage that runs
	s.seesText("3 Log · K8S_PRIMARY_ROLLOUT", "rolling out the primary")
	s.losesText("applying 3 objects")
}

func TestOnlyTheLinesWithAHitAreShown(t *testing.T) {
	t.Parallel()
	server, s := reading(t, 120, 30, numbers(300)...)
	s.seesText("number 299")
	s.types("&")
	s.seesText("nothing to filter by")
	s.types("g/7$\r")
	s.seesText("1 of 30 hits")
	s.types("g&")
	s.seesText("30 of 300 lines", "number 007 ", "number 017 ", "number 027 ")
	s.losesText("number 008 ")
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "the new 1007")
	s.types("G")
	s.seesText("31 of 301 lines")
	s.types("G")
	s.seesText("the new 1007", "number 297 ")
	s.types("&")
	s.seesText("number 188 ", "number 189 ")
	s.types("&")
	s.seesText("31 of 301 lines")
	s.types("\x1b")
	s.losesText("hits")
	s.losesText("31 of 301 lines")
}

func TestTheLineOfAHitAndSelectedLinesAreCopied(t *testing.T) {
	t.Parallel()
	_, s := reading(t, 120, 30, numbers(300)...)
	s.seesText("number 299")
	s.types("/number 150$\r")
	s.seesText("1 of 1 hit")
	s.types("y")
	s.seesText("copied the line of the hit")
	s.clipboard("number 150")
	s.types("v")
	s.seesText("the arrows select lines", "▌")
	s.types("jj")
	s.types("y")
	s.seesText("copied 3 lines")
	s.clipboard("number 150\nnumber 151\nnumber 152\n")
	s.types("kkk") // above where it began
	s.types("y")
	s.seesText("copied 2 lines")
	s.clipboard("number 149\nnumber 150\n")
	s.types("\x1b")
	s.losesText("▌           number 149")
	s.types("y")
	s.seesText("copied the line of the hit")
	s.types("\x1b")
	s.losesText("/number")
	s.types("gvG")
	s.types("y")
	s.seesText("copied 300 lines")
}

func TestARemarkAboutAMissingSearchEndsWhenTheSearchBegins(t *testing.T) {
	t.Parallel()
	for key, remark := range map[string]string{
		"&": "nothing to filter by: press /", "n": "nothing to search for: press /",
	} {
		m := waiting(t, 100, 30)
		m.key("3", key)
		require.Contains(t, m.View().Content, remark)
		m.key("/")
		require.NotContains(t, m.View().Content, remark)
	}
}
