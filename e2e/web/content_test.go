// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/page"
	"github.com/pipedeck/pipedeck/tui/view"
)

// shop is a page about the example with six applications, of which checkout is being deployed.
func shop(t *testing.T) *site {
	s := serve(t, decktest.Shop()...)
	for i, line := range decktest.Rollout() {
		s.deck.LogAt("deploy-eu", float64(20+2*i), line)
	}
	return s
}

// ready is when the deployment of checkout with its log is on the page.
func (b *tab) ready() {
	b.Helper()
	b.waits("document.querySelectorAll('.node').length === 8")
	b.shows("#lines", "3 of 4 pods ready")
}

func TestApplicationsAreListedTheWorstFirst(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	rows := js[[]string](b, "[...document.querySelectorAll('.application')].map(row => row.ariaLabel)")
	require.Equal(t, []string{"search, failed, a71e0d2", "payments, waits for approval 2/5, 91c04be",
		"checkout, running 5/8, f437ddc", "catalog, synced · healthy, be8b474", "mail, synced · healthy, 5f5a412",
		"website, synced · healthy, ff87129"}, rows)
	require.Equal(t, []string{"✗ 1 failed", "◆ 1 waits for a person", "● 1 deploying", "✓ parts ready"},
		js[[]string](b, "[...document.querySelectorAll('#attention li')].map(item => item.innerText)"))
	require.Equal(t, "● live", js[string](b, "document.querySelector('#connection').innerText"))
	require.Equal(t, "● checkout: running · pipedeck default", js[string](b, "document.title"))
	b.clean(s)
}

func TestALogThatIsWrappedDoesNotScrollSideways(t *testing.T) {
	s := shop(t)
	b := open(t, look{width: 1000, height: 700, scheme: "light"}, s.url())
	b.ready()
	b.waits("document.querySelector('#lines').scrollWidth === document.querySelector('#lines').clientWidth")
	b.clean(s)
}

// The page shows the drawing of the terminal: each frame runs through the middles of the cells that the terminal's has.
func TestTheGraphIsTheOneOfTheTerminal(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	plan, ok := graph.PlanBoxes(view.GraphStages(decktest.Checkout(), decktest.Environment(), view.Keys{},
		decktest.Now()), graph.Options{})
	require.True(t, ok)
	const across, down = 8, 19 // a cell in the units of the drawing
	want := map[string][4]float64{}
	for _, n := range plan.Nodes {
		if !n.Joint {
			want[n.ID] = [4]float64{(float64(n.X) + .5) * across, (float64(n.Y) + .5) * down,
				float64(n.Width-1) * across, float64(n.Height-1) * down}
		}
	}
	require.Equal(t, want, js[map[string][4]float64](b, `Object.fromEntries([...document.querySelectorAll('.node')].map(
		node => [node.dataset.stage, ['x', 'y', 'width', 'height'].map(
			name => Number(node.querySelector('rect').getAttribute(name)))]))`))
	flows := map[string]int{}
	for _, e := range plan.Edges {
		flows["edge "+e.Flow]++
	}
	require.Equal(t, flows, js[map[string]int](b, `[...document.querySelectorAll('.edge')].reduce((all, edge) => {
		const name = edge.getAttribute('class'); all[name] = (all[name] ?? 0) + 1; return all }, {})`))
	require.Equal(t, []string{"●", "deploy-eu"}, js[[]string](b,
		"[...document.querySelectorAll('[data-stage=deploy-eu] text')].slice(0, 2).map(part => part.textContent)"))
}

func TestALineOfALogHasItsTimeAndSign(t *testing.T) {
	s := shop(t)
	s.deck.Log("deploy-eu", deckv1.Severity_SEVERITY_ERROR, "it broke")
	b := open(t, laptop, s.url())
	b.shows("#lines", "it broke")
	lines := js[[]string](b, `[...document.querySelectorAll('.line')].map(
		line => line.innerText.replaceAll('\n', ' '))`)
	require.Len(t, lines, 8)
	require.Regexp(t, `^\d\d:\d\d:20 +Applying 3 manifests to eu-west-1$`, lines[0])
	require.Regexp(t, `^\d\d:\d\d:28 +! +WARN pod `, lines[4])
	require.Regexp(t, `✗ +it broke$`, lines[7])
	require.Equal(t, "8 lines", js[string](b, "document.querySelector('#log-count').innerText"))
}

func TestAFailureIsShownWithItsReasonAndNextStep(t *testing.T) {
	s := serve(t, append(decktest.Shop(), decktest.CheckoutFailed())...)
	b := open(t, laptop, s.url())
	b.shows("#status", "↺ Rolling back")
	b.shows("#reason", "invalid duration")
	b.shows("#reason", "read the log of deploy-us")
	b.shows("#log-title", "Log of deploy-us")
	require.Equal(t, "rule", js[string](b, "document.querySelector('.rule').getAttribute('class')"))
	require.Equal(t, 2, js[int](b, "document.querySelectorAll('.node.rollback').length"))
	b.clean(s)
}

func TestAStageThatWaitsSaysWhoMayApprove(t *testing.T) {
	d := decktest.Checkout()
	gate := d.Stages[4]
	gate.Status, gate.CanApprove, gate.CompletedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, true, nil
	gate.Approvers, gate.ApprovedBy, gate.ApprovalsNeeded = []string{"alice", "bob", "carol"}, []string{"alice"}, 2
	gate.Display = ""
	s := serve(t, append(decktest.Shop(), d)...)
	b := open(t, laptop, s.url())
	b.shows("#reason", "approve waits for approval, 1 of 2 (approved by alice): bob or carol may approve")
	b.shows("#reason", "an approver presses the key in the terminal UI, or runs: pipedeck approve checkout approve "+
		"--name default")
	b.waits("document.querySelector('.node.waiting[aria-selected=true]').dataset.stage === 'approve'")
	require.Contains(t, js[string](b, "document.querySelector('[data-stage=approve]').textContent"), "1 of 2")

	gate.CanApprove, gate.Pause = false, &deckv1.StagePause{}
	s.deck.Publish(d)
	b.shows("#reason", "approve is paused at a breakpoint")
	b.shows("#reason", "the presenter continues the stage in the terminal UI")
}

// A stage of any type and plugin has charts when its metadata has what they show.
func TestAStageWithMetricsHasCharts(t *testing.T) {
	s := serve(t, append(decktest.Running(), decktest.Named())...)
	s.deck.Run("s2", &deckv1.GetStageRunResponse{Metadata: map[string]string{"pipedeck/analysis-series": series}})
	b := open(t, laptop, s.url())
	b.waits("document.querySelectorAll('.node').length === 5")
	b.picks("s2")
	js[any](b, "document.querySelector('[data-show=stage]').click(), null")
	b.waits("document.querySelectorAll('.chart svg').length === 2")
	require.Equal(t, "error rate, last 0.061, compared with 0.01, at most 0.05, 6 evaluations, 1 bad",
		js[string](b, "document.querySelector('.chart svg').ariaLabel"))
	// Signs distinguish the lines: dots and crosses of the canary, squares of what it is compared with.
	require.Equal(t, []int{4, 1, 5}, js[[]int](b, `['.dot', '.cross', '.square'].map(
		name => document.querySelector('.chart').querySelectorAll(name).length)`))
}

func TestAStageHasItsPlannedChanges(t *testing.T) {
	s := serve(t, append(decktest.Running(), decktest.Named())...)
	s.deck.Run("s2", &deckv1.GetStageRunResponse{Metadata: map[string]string{"pipedeck/planned-changes": `{"targets":[
		{"name":"staging","counts":{"replace":1,"destroy":1},"resources":[
		{"address":"aws_s3_bucket.old","action":"destroy"},
		{"address":"aws_db.main","action":"replace","fields":[
		{"path":"engine","before":"\"<b>14\"","after":"\"16\"","forces":true}]}]}]}`}})
	b := open(t, laptop, s.url())
	b.waits("document.querySelectorAll('.node').length === 5")
	b.picks("s2")
	js[any](b, "document.querySelector('[data-show=stage]').click(), null")
	b.waits("document.querySelectorAll('.planned li').length === 3")
	require.Equal(t, []string{"destroy", "destroy", "field"},
		js[[]string](b, "[...document.querySelectorAll('.planned li')].map(row => row.className)"))
	require.Equal(t, "-aws_s3_bucket.old  destroyed",
		js[string](b, "document.querySelector('.planned li').textContent"))
	b.shows(".planned", `engine "<b>14" → "16" replaces it`)
	b.clean(s)
}

func TestPluginsAndPartsAndProblemsAreThere(t *testing.T) {
	objects := decktest.Shop()
	for _, p := range decktest.Problems() {
		objects = append(objects, p)
	}
	broken := decktest.Plugins()[2]
	broken.State, broken.Detail, broken.Restarts = deckv1.Plugin_STATE_FAILED, "exit status 3", 5
	s := serve(t, append(objects, broken)...)
	b := open(t, look{width: 1920, height: 1080, scheme: "dark"}, s.url())
	b.shows("#attention", "! degraded: 2 problems")
	b.shows("#plugins", "exit status 3")
	require.Equal(t, []string{"wait", "✗ failed exit status 3", "5", "23M"}, js[[]string](b,
		`[...document.querySelectorAll('#plugins tbody tr')[2].cells].map(
			cell => cell.innerText.replaceAll('\n', ' '))`))
	b.shows("#environment", "pipedeck restart wait")
	b.shows("#environment", "9 checks passed")
	b.shows("#history", "Raise the timeout of the payment client")
	b.clean(s)
}

func TestTheCaptionOfAStoryIsOnThePage(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	require.True(t, js[bool](b, "document.querySelector('#story').hidden"))
	s.deck.Publish(&deckv1.Caption{Text: "A canary takes a tenth", Step: 2, Steps: 5, Awaits: "n continues"})
	b.shows("#story", "A canary takes a tenth")
	require.Equal(t, "step 2 of 5\nn continues", js[string](b, "document.querySelector('#step').innerText"))
	s.deck.Publish(&deckv1.Caption{})
	b.waits("document.querySelector('#story').hidden")
}

// tape is a recorded session that stands at a place.
type tape struct{ at float64 }

func (f tape) Playback() page.Playback {
	return page.Playback{AtSeconds: f.at, LengthSeconds: 160, Speed: 2,
		Now: decktest.At(f.at).AsTime().Format(time.RFC3339Nano)}
}

func (tape) Changed() <-chan struct{} { return nil }

func (f tape) Now() time.Time { return decktest.At(f.at).AsTime() }

func TestARecordedSessionSaysWhereItIs(t *testing.T) {
	s := serveFilm(t, tape{at: 42}, decktest.Shop()...)
	b := open(t, laptop, s.url())
	b.shows("#played", "0:42 of 2:40")
	b.shows("#playing", "paused")
	b.shows("#connection", "recorded")
	// Durations are those at that time of the session, whatever the time is now.
	b.shows("#took", "1m42s")
	require.InDelta(t, 42.0/160, js[float64](b, "document.querySelector('#position').value"), 0.001)
	b.clean(s)
}

// What people and programs write is text, wherever it stands.
func TestNothingThatOthersWriteBecomesMarkup(t *testing.T) {
	const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>"'><svg onload=window.hit=1>`
	d := decktest.CheckoutFailed()
	d.Commit.Message, d.Commit.Author, d.Summary, d.StatusReason, d.Commander = evil, evil, evil, evil, evil
	for _, stage := range d.Stages {
		stage.ConfigId, stage.Desc, stage.StatusReason, stage.Display = evil+stage.Id, evil, evil, evil
		stage.Targets = []*deckv1.StageTarget{{Name: evil, Detail: evil}}
	}
	app := decktest.Synced()
	app.Id, app.Name, app.SyncReason, app.Labels = "checkout", evil, evil, map[string]string{evil: evil}
	plugin := decktest.Plugins()[0]
	plugin.Name, plugin.Detail, plugin.Version = evil, evil, evil
	environment := decktest.Environment()
	environment.Name, environment.Branch, environment.Repository = evil, evil, evil
	problem := decktest.Problems()[0]
	problem.Part, problem.Reason, problem.NextStep = evil, evil, evil
	component := decktest.Component(9, evil, evil)
	s := serve(t, append([]proto.Message{environment, app, plugin, problem, component}, d)...)
	s.deck.Log("deploy-us", deckv1.Severity_SEVERITY_INFO, evil, "\x1b]0;"+evil+"\x07"+evil)
	s.deck.Run("deploy-us", &deckv1.GetStageRunResponse{Metadata: map[string]string{
		"pipedeck/analysis-series": `[{"name":"` + strings.ReplaceAll(evil, `"`, `\"`) + `","points":[{"value":1}]}]`}})
	d.Stages[6].Plugin = "analysis"
	s.deck.Publish(d)
	s.deck.Publish(&deckv1.Caption{Text: evil, Step: 1, Steps: 2, Awaits: evil})
	b := open(t, look{width: 1920, height: 1080, scheme: "light"}, s.url())
	b.shows("#lines", evil)
	for _, place := range []string{"#name", "#applications", "#deployment", "#log-title", "#stage", "#plugins",
		"#environment", "#history", "#story"} {
		b.shows(place, "<img src=x")
	}
	b.waits("document.querySelectorAll('.chart').length === 1")
	require.Equal(t, 0, js[int](b, "document.querySelectorAll('img, #deck script, [onerror], [onload]').length"))
	require.True(t, js[bool](b, "window.hit === undefined"))
	b.clean(s)
}
