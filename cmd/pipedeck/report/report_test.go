// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/filetest"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

const head = "1111111111111111111111111111111111111111"

// facts are those of a run with the applications app-0 to app-n, whose deployments end as given.
func facts(t *testing.T, ended ...*deckv1.Deployment) Facts {
	t.Helper()
	f := Facts{Root: t.TempDir(), Head: head, Started: decktest.At(0).AsTime(), Ended: decktest.At(60).AsTime(),
		Deck: state.New(), Logs: &Logs{}}
	var objects []proto.Message
	files := map[string]string{}
	for i, d := range ended {
		name := fmt.Sprintf("app-%d", i)
		file := name + "/app.pipecd.yaml"
		files[file], files[name+"/deployment.yaml"] = "x", "x"
		f.Checked = append(f.Checked, &workspace.Checked{File: file, Name: name})
		app := &deckv1.Application{Id: name, Name: name, Path: name, ConfigFilename: "app.pipecd.yaml",
			Sync: deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC}
		if d != nil && d.GetCommit() == nil {
			app.Sync = deckv1.SyncStatus_SYNC_STATUS_SYNCED
		}
		objects = append(objects, app)
		if d == nil {
			continue
		}
		d = proto.CloneOf(d)
		d.Id, d.ApplicationId, d.ApplicationName, d.CreatedAt = "d-"+name, name, name, decktest.At(1)
		if d.GetCommit() == nil {
			d.Commit = &deckv1.Commit{Hash: head}
		}
		objects = append(objects, d)
		for _, stage := range d.GetStages() {
			f.Logs.Add(reader.Change{Kind: reader.Log, Log: &deckv1.LogBlock{DeploymentId: d.GetId(),
				StageId: stage.GetId(), Text: "log of " + name + "\n"}})
		}
	}
	for _, event := range decktest.Events(objects...) {
		f.Deck.Apply(event)
	}
	filetest.Write(t, f.Root, files)
	return f
}

func succeeded() *deckv1.Deployment {
	return &deckv1.Deployment{Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, Strategy: "QUICK_SYNC",
		Summary: "Quick sync: the first deployment", CompletedAt: decktest.At(13.5), Stages: []*deckv1.Stage{
			{Id: "s", Name: "K8S_SYNC", Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS,
				StartedAt: decktest.At(2), CompletedAt: decktest.At(13)},
		}}
}

func failed(reason string, cause *deckv1.Cause) *deckv1.Deployment {
	return &deckv1.Deployment{Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, Strategy: "PIPELINE",
		StatusReason: "Stage K8S_SYNC failed: " + reason, CompletedAt: decktest.At(4), Stages: []*deckv1.Stage{
			{Id: "s", Name: "K8S_SYNC", Status: deckv1.StageStatus_STAGE_STATUS_FAILURE, StatusReason: reason,
				Cause: cause, StartedAt: decktest.At(2), CompletedAt: decktest.At(3)},
		}}
}

// many is a run of 25 applications of which 16 fail.
func many(t *testing.T) Run {
	t.Helper()
	var all []*deckv1.Deployment
	for i := range 25 {
		if i < 9 {
			all = append(all, succeeded())
			continue
		}
		all = append(all, failed(fmt.Sprintf("deployment.yaml:%d: the image of number %d cannot be pulled", i, i), nil))
	}
	run := Build(facts(t, all...))
	run.ExitCode, run.Reason = 1, "16 of 25 applications failed"
	return run
}

func TestEveryApplicationIsInTheTableTheWorstFirst(t *testing.T) {
	t.Parallel()
	run := many(t)
	var b strings.Builder
	require.NoError(t, Table(&b, run, 100))
	lines := strings.Split(b.String(), "\n")
	require.Regexp(t, `^APPLICATION  RESULT   STRATEGY    DURATION  REASON$`, lines[0])
	for i := range 25 {
		row := lines[1+i]
		number := i + 9 // 9 to 24 have failed
		if i >= 16 {
			number = i - 16
		}
		require.True(t, strings.HasPrefix(row, fmt.Sprintf("app-%d ", number)), row)
		require.LessOrEqual(t, text.Width(row), 100)
	}
	require.Regexp(t,
		`^app-9        FAILURE  PIPELINE    3\.0s      Stage K8S_SYNC failed: app-9/deployment\.yaml:9: .*…$`,
		lines[1])
	require.Regexp(t, `^app-0        SUCCESS  QUICK_SYNC  13s$`, lines[17])
	require.Contains(t, b.String(), "\napp-24: FAILURE\n  Stage K8S_SYNC failed: app-24/deployment.yaml:24: the image "+
		"of number 24 cannot be pulled\n", "what was cut is there whole")
	require.Contains(t, b.String(), "\n25 applications: 16 FAILURE, 9 SUCCESS in 1m0s\n")

	b.Reset()
	require.NoError(t, Table(&b, run, 20))
	require.Contains(t, b.String(), "app-24", "a narrow terminal shows all, too")
	b.Reset()
	require.NoError(t, Sentences(&b, run))
	require.Equal(t, 16, strings.Count(b.String(), ": failure, Stage K8S_SYNC failed"))
}

func TestEveryApplicationIsInTheJUnitFile(t *testing.T) {
	t.Parallel()
	data, err := JUnit(many(t))
	require.NoError(t, err)
	var read junitSuites
	require.NoError(t, xml.Unmarshal(data, &read))
	suite := read.Suites[0]
	require.Equal(t, []int{25, 16, 0, 0}, []int{suite.Tests, suite.Failures, suite.Errors, suite.Skipped})
	require.Len(t, suite.Cases, 25)
	require.Equal(t, "app-9", suite.Cases[0].Name)
	require.Equal(t, "pipedeck.app-9", suite.Cases[0].Class)
	require.Equal(t, "app-9/deployment.yaml", suite.Cases[0].File)
	require.Equal(t, 9, suite.Cases[0].Line)
	require.Contains(t, suite.Cases[0].Failure.Message, "the image of number 9 cannot be pulled")
	require.Contains(t, suite.Cases[0].Failure.Text, "stage K8S_SYNC FAILURE:")
	require.Contains(t, suite.Cases[0].Out, "--- K8S_SYNC FAILURE\nlog of app-9\n")
	require.Equal(t, "12.500", suite.Cases[16].Time)
	require.Nil(t, suite.Cases[16].Failure)
}

func TestEveryApplicationIsInTheSummary(t *testing.T) {
	t.Parallel()
	page := string(Markdown(many(t)))
	require.Equal(t, 16, strings.Count(page, "| FAILURE | PIPELINE |"))
	require.Equal(t, 9, strings.Count(page, "| SUCCESS | QUICK\\_SYNC |"))
	require.Contains(t, page, "exit code 1")
	require.Equal(t, 16, strings.Count(page, "<details>"))
}

func TestEachApplicationHasItsResultAndReason(t *testing.T) {
	t.Parallel()
	running := &deckv1.Deployment{Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, Stages: []*deckv1.Stage{
		{Id: "s", Name: "WAIT_APPROVAL", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, CanApprove: true}}}
	cancelled := &deckv1.Deployment{Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED,
		StatusReason: "Cancelled by ann"}
	older := succeeded()
	older.Commit = &deckv1.Commit{Hash: strings.Repeat("2", 40)}
	lacking := &deckv1.Cause{Kind: "NO_CRD", Place: "deployment.yaml:2"}
	mixed := failed("two things", lacking)
	mixed.Stages = append(mixed.Stages, &deckv1.Stage{Id: "t", Name: "SCRIPT_RUN",
		Status: deckv1.StageStatus_STAGE_STATUS_FAILURE})
	rolledBack := failed("no such kind", lacking)
	rolledBack.Stages = append(rolledBack.Stages, &deckv1.Stage{Id: "t", Name: "K8S_ROLLBACK", Rollback: true,
		Status: deckv1.StageStatus_STAGE_STATUS_FAILURE})
	unplanned := &deckv1.Deployment{Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE,
		StatusReason: "Planning failed: no plugin owns stage ECS_SYNC", Cause: &deckv1.Cause{Kind: "NO_PLUGIN"}}
	f := facts(t, succeeded(), failed("bad", nil), rolledBack, mixed, unplanned, cancelled, running, nil, older, nil,
		nil, nil, nil, nil)
	f.ByHand = map[string]Verdict{f.Checked[9].File: {Manual, "neither a commit, drift nor a chain deploys it"},
		f.Checked[8].File: {Manual, "a user has deployed it"}}
	f.Aside = map[string]Verdict{f.Checked[10].File: {Excluded, "--exclude names it"},
		f.Checked[11].File: {Unchanged, "the commits do not touch it"}}
	f.Checked[12].Errors = []error{&config.Error{File: f.Checked[12].File, Line: 3, Column: 5, Message: "bad"}}
	f.Checked[13].Errors = []error{&config.Error{File: f.Checked[13].File, Line: 4, Column: 1, Message: "no plugin",
		NoPlugin: true}}
	f.Checked = append(f.Checked, &workspace.Checked{File: "late/app.pipecd.yaml", Name: "late"})
	f.Deck.Apply(&deckv1.Event{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: "app-8",
		Name: "app-8", Path: "app-8", ConfigFilename: "app.pipecd.yaml", Sync: deckv1.SyncStatus_SYNC_STATUS_SYNCED}}})
	run := Build(f)
	require.Len(t, run.Applications, 15)
	for _, want := range []struct {
		name   string
		result Result
		cause  Cause
		why    string
		place  string
	}{
		{"app-12", Invalid, "", "app-12/app.pipecd.yaml:3:5: bad", "app-12/app.pipecd.yaml:3:5"},
		{"app-1", Failure, "", "Stage K8S_SYNC failed: bad", "app-1/app.pipecd.yaml"},
		{"app-3", Failure, "", "Stage K8S_SYNC failed: two things", "app-3/app.pipecd.yaml"},
		{"app-2", Missing, NoCRD, "NO_CRD: app-2/deployment.yaml:2: Stage K8S_SYNC failed: no such kind",
			"app-2/deployment.yaml:2"},
		{"app-4", Missing, NoPlugin, "NO_PLUGIN: Planning failed: no plugin owns stage ECS_SYNC",
			"app-4/app.pipecd.yaml"},
		{"app-13", Missing, NoPlugin, "NO_PLUGIN: app-13/app.pipecd.yaml:4:1: no plugin", "app-13/app.pipecd.yaml:4:1"},
		{"app-5", Cancelled, "", "Cancelled by ann", "app-5/app.pipecd.yaml"},
		{"app-6", Unfinished, "", "RUNNING: stage WAIT_APPROVAL waits for an approval", "app-6/app.pipecd.yaml"},
		{"app-7", Unfinished, "", "it was not deployed yet", "app-7/app.pipecd.yaml"},
		{"late", Unfinished, "", "piped has not registered it", "late/app.pipecd.yaml"},
		{"app-0", Success, "", "", ""},
		{"app-8", Unchanged, "", "commit 2222222 deployed it, and later ones do not touch it", ""},
		{"app-11", Unchanged, "", "the commits do not touch it", ""},
		{"app-9", Manual, "", "neither a commit, drift nor a chain deploys it", ""},
		{"app-10", Excluded, "", "--exclude names it", ""},
	} {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			for i := range run.Applications {
				if a := &run.Applications[i]; a.Name == want.name {
					require.Equal(t, want.result, a.Result)
					require.Equal(t, want.cause, a.Cause)
					require.Equal(t, want.why, Why(a))
					require.Equal(t, want.place, a.Place.String())
					return
				}
			}
			t.Fatal("it is not in the report")
		})
	}
	require.Len(t, run.Failed(), 10)
	run.AllowMissing = true
	require.Len(t, run.Failed(), 7)
	data, err := JUnit(run)
	require.NoError(t, err)
	require.Contains(t, string(data), `<skipped message="MISSING: NO_CRD:`)
}

func TestAnApplicationThatHeadRemovesDoesNotFailTheRun(t *testing.T) {
	t.Parallel()
	older := succeeded()
	older.Commit = &deckv1.Commit{Hash: strings.Repeat("2", 40)}
	f := facts(t, older, failed("bad", nil), succeeded(), nil)
	f.Checked = f.Checked[2:3]
	run := Build(f)
	require.Len(t, run.Applications, 3, "app-3 was never deployed")
	require.Equal(t, 1, run.Count(Success))
	require.Equal(t, "app-1", run.Applications[2].Name)
	require.Contains(t, run.Applications[2].Reason, "; its last deployment was FAILURE")
	require.Empty(t, run.Failed())
}

func TestARunThatNeverStartedHasItsApplications(t *testing.T) {
	t.Parallel()
	f := Facts{Checked: []*workspace.Checked{{File: "a/app.pipecd.yaml", Name: "a"}}, Started: time.Unix(5, 0),
		Ended: time.Unix(4, 0)}
	run := Build(f)
	require.Equal(t, Unfinished, run.Applications[0].Result)
	require.Zero(t, run.Seconds, "clocks may go back")
	require.Equal(t, "[]", func() string {
		data, err := json.Marshal(Build(Facts{}).Applications)
		require.NoError(t, err)
		return string(data)
	}())
}

// hostile has everything that could be taken for markup.
const hostile = "a\x1b[31m|b\x00 <b>&\"']]> `c` ::error::x ##[error]y %0A @ann \u202e\xff\nsecond, line: *d* \\"

func hostileRun() Run {
	return Run{Repository: "/w/r", ExitCode: 1, Reason: hostile, Applications: []Application{
		{Name: hostile, File: hostile, Result: Failure, Reason: hostile, Deployment: "d",
			Place:    &Place{File: hostile, Line: 1},
			Warnings: []Warning{{Text: hostile}},
			Stages: []Stage{{Name: hostile, Status: "FAILURE", Reason: hostile,
				Log: []string{"```", hostile, "::error::in"}}}},
	}}
}

func TestJUnitIsValidXMLWhateverIsInIt(t *testing.T) {
	t.Parallel()
	data, err := JUnit(hostileRun())
	require.NoError(t, err)
	require.NotContains(t, string(data), "\x1b")
	require.NotContains(t, string(data), "\x00")
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.Strict = true
	for {
		_, err := decoder.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	var read junitSuites
	require.NoError(t, xml.Unmarshal(data, &read))
	require.Contains(t, read.Suites[0].Cases[0].Failure.Message, `<b>&"']]>`)
}

func TestMarkdownIsOneTableRowWhateverIsInIt(t *testing.T) {
	t.Parallel()
	page := string(Markdown(hostileRun()))
	var row string
	for line := range strings.Lines(page) {
		if strings.Contains(line, "| FAILURE |") {
			require.Empty(t, row)
			row = line
		}
	}
	require.Equal(t, 6, strings.Count(strings.ReplaceAll(row, `\|`, ""), "|"), row)
	require.Contains(t, row, `\<b\>\&`)
	require.NotContains(t, row, "@ann")
	require.NotContains(t, page, "\x1b")
	require.Contains(t, page, "\n````\n", "the log cannot end its block of code")
}

func TestWorkflowCommandsAreEscaped(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Annotations(&b, hostileRun(), "/w"))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `^::warning file=r/[^:,]*,title=[^:,]*::.`, lines[0])
	require.Regexp(t, `^::error file=r/[^:,]*%2C[^:,]*,line=1,title=[^:,]*::.`, lines[1])
	require.NotContains(t, b.String(), "##[")
	require.Contains(t, b.String(), "%250A")
	b.Reset()
	require.NoError(t, Groups(&b, hostileRun()))
	for line := range strings.Lines(b.String()) {
		require.Regexp(t, `^(::group::|::endgroup::\n$|a)`, line)
	}
	require.NotContains(t, b.String(), "##[")
}

func TestARunThatFailsByNoApplicationIsNoSuccessAnywhere(t *testing.T) {
	t.Parallel()
	run := Build(facts(t, succeeded()))
	run.ExitCode, run.Reason = 5, "the environment is degraded"
	data, err := JUnit(run)
	require.NoError(t, err)
	require.Contains(t, string(data), `<error message="the environment is degraded" type="exit code 5">`)
	var b strings.Builder
	require.NoError(t, Annotations(&b, run, ""))
	require.Equal(t, "::error title=pipedeck ci::the environment is degraded\n", b.String())
}

func TestLongReportsStayBelowTheLimitOfAComment(t *testing.T) {
	t.Parallel()
	run := Run{ExitCode: 1}
	for i := range 2000 {
		run.Applications = append(run.Applications, Application{Name: fmt.Sprint("app-", i), Result: Failure,
			Reason: strings.Repeat("long ", 400),
			Stages: []Stage{{Name: "S", Log: []string{strings.Repeat("x", 5000)}}}})
	}
	page := Markdown(run)
	require.Less(t, len(page), 65_536)
	require.Contains(t, string(page), "more applications")
}

func TestLogsKeepTheLastLinesWithinBounds(t *testing.T) {
	t.Parallel()
	logs := &Logs{}
	add := func(stage, block string) {
		logs.Add(reader.Change{Kind: reader.Log, Log: &deckv1.LogBlock{DeploymentId: "d", StageId: stage, Text: block}})
	}
	for i := range 1000 {
		add("s", fmt.Sprintf("line %d\n", i))
	}
	tail := logs.Tail("d", "s")
	require.Len(t, tail, tailLines)
	require.Equal(t, "line 999", tail[tailLines-1])
	add("big", strings.Repeat(strings.Repeat("x", 100_000)+"\n", 100))
	size := 0
	for _, line := range logs.Tail("d", "big") {
		size += len(line)
	}
	require.LessOrEqual(t, size, tailBytes)
	for i := range tailStages + 10 {
		add(fmt.Sprint(i), "x")
	}
	require.LessOrEqual(t, len(logs.tails), tailStages)
	require.Nil(t, (*Logs)(nil).Tail("d", "s"))
}

func TestTheJSONReportIsWhatItSays(t *testing.T) {
	t.Parallel()
	data, err := JSON(many(t))
	require.NoError(t, err)
	var read map[string]any
	require.NoError(t, json.Unmarshal(data, &read))
	require.EqualValues(t, 1, read["schema"])
	require.EqualValues(t, 60, read["duration_seconds"])
	first := read["applications"].([]any)[0].(map[string]any)
	require.Equal(t, "FAILURE", first["result"])
	require.Equal(t, map[string]any{"file": "app-9/deployment.yaml", "line": 9.0}, first["place"])
	var b strings.Builder
	require.NoError(t, Lines(&b, many(t)))
	require.Equal(t, 25, strings.Count(b.String(), `"type":"outcome"`))
	require.NotContains(t, b.String(), `"stages"`)
}
