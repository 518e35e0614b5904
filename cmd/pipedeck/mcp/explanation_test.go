// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

// environment is what the commands of pipedeck print.
type environment struct {
	applications []document.Application
	deployment   document.Deployment
	log          document.LogLine
	problems     []document.Problem
}

// troubled has two applications, whose newest deployment has failed.
func troubled() environment {
	e := environment{
		deployment: document.WithStages(decktest.Failed(), nil),
		log:        document.LogLine{Log: document.Log{Text: "one\nthe image cannot be pulled\n"}},
	}
	for _, name := range []string{"web", "api"} {
		a := document.NewApplication(decktest.Application(), nil)
		a.ID, a.Name, a.Reason, a.ShortReason = name, name, "image\nreplicas", "image"
		e.applications = append(e.applications, a)
	}
	for _, p := range decktest.Problems() {
		e.problems = append(e.problems, document.NewProblem(p, document.ProblemPresent))
	}
	return e
}

// why asks a server of this environment, and returns the answer after a check against the schema of the tool.
func (e environment) why(t *testing.T, arguments map[string]any) (all explanation) {
	t.Helper()
	dir := t.TempDir()
	for name, printed := range map[string]any{
		"apps":    map[string]any{"applications": e.applications},
		"history": map[string]any{"deployments": []document.Deployment{e.deployment}},
		"logs":    e.log,
		"status":  map[string]any{"problems": e.problems, "starting": []string{"kubernetes"}},
	} {
		encoded, err := json.Marshal(printed)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), encoded, 0o600))
	}
	program, err := filepath.Abs(filepath.Join("testdata", "printing.sh"))
	require.NoError(t, err)
	client := assistant(t, program, dir)
	answer, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "why", Arguments: arguments})
	require.NoError(t, err)
	require.False(t, answer.IsError, "%v", answer.Content)
	schemaOfWhy(t, client, answer.StructuredContent)
	require.Len(t, answer.Content, 1)
	text := answer.Content[0].(*mcp.TextContent).Text
	structured, err := json.Marshal(answer.StructuredContent)
	require.NoError(t, err)
	require.JSONEq(t, text, string(structured), "the answer comes as text, too")
	require.LessOrEqual(t, len(text)+len(structured), maxResult)
	require.NoError(t, json.Unmarshal([]byte(text), &all))
	return all
}

// schemaOfWhy checks an answer against the schema that the assistant gets.
func schemaOfWhy(t *testing.T, client *mcp.ClientSession, answer any) {
	t.Helper()
	tools, err := client.ListTools(t.Context(), nil)
	require.NoError(t, err)
	at := slices.IndexFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "why" })
	encoded, err := json.Marshal(tools.Tools[at].OutputSchema)
	require.NoError(t, err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("why.json", schema))
	compiled, err := compiler.Compile("why.json")
	require.NoError(t, err)
	require.NoError(t, compiled.Validate(answer))
}

func TestWhyExplainsAFailureWithTheEndOfItsLog(t *testing.T) {
	t.Parallel()
	all := troubled().why(t, nil)
	require.Equal(t, "web: the newest deployment ended with FAILURE; api: the newest deployment ended with FAILURE; "+
		"2 problems of the environment; the environment is still starting: kubernetes", all.Summary)
	require.Len(t, all.Troubles, 2)
	require.Len(t, all.Troubles[1].Stages, 2)
	require.Equal(t, "K8S_PRIMARY_ROLLOUT", all.Troubles[1].Stages[0].Name)
	require.Equal(t, []string{"one\nthe image cannot be pulled"}, all.Troubles[1].Stages[0].Log)
	require.Equal(t, "image\nreplicas", all.Troubles[1].Application.Reason)
	require.Contains(t, all.Problems[1].NextStep, "pipedeck restart wait")
	require.Zero(t, all.More+all.MoreProblems+all.Troubles[1].MoreStages)
	require.Len(t, troubled().why(t, map[string]any{"application": "api"}).Troubles, 1)
}

func TestWhyIsBoundedHoweverMuchIsNotWell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(e *environment)
		check  func(t *testing.T, all explanation)
	}{
		"500 problems": {func(e *environment) {
			e.problems = slices.Repeat(e.problems, 250)
		}, func(t *testing.T, all explanation) {
			require.Greater(t, len(all.Problems), firstProblems, "as many as there is room for")
			require.Equal(t, 500, len(all.Problems)+all.MoreProblems)
			require.Contains(t, all.Summary, "500 problems")
			require.Contains(t, all.Troubles[1].Stages[1].Log[0], "cannot be pulled", "logs stay")
		}},
		"a problem with a long reason": {func(e *environment) {
			e.problems[1].Reason = strings.Repeat("x", maxResult)
		}, func(t *testing.T, all explanation) {
			require.Len(t, all.Problems, 1)
			require.Equal(t, 1, all.MoreProblems)
			require.Equal(t, []string{leftOut}, all.Troubles[0].Stages[0].Log)
			require.Len(t, all.Troubles[1].Stages, 2)
		}},
		"a drift of many fields": {func(e *environment) {
			e.applications[1].Reason = strings.Repeat("spec.replicas\n", maxResult/10)
		}, func(t *testing.T, all explanation) {
			require.Equal(t, "image\nreplicas", all.Troubles[0].Application.Reason)
			require.Equal(t, "image", all.Troubles[1].Application.Reason)
			require.Len(t, all.Problems, 2)
		}},
		"stages with long reasons": {func(e *environment) {
			for i := range *e.deployment.Stages {
				(*e.deployment.Stages)[i].Reason = strings.Repeat("x", maxResult/7)
			}
		}, func(t *testing.T, all explanation) {
			require.Empty(t, all.Problems)
			require.Len(t, all.Troubles[0].Stages, 2)
			require.Len(t, all.Troubles[1].Stages, 1)
			require.Equal(t, 1, all.Troubles[1].MoreStages)
		}},
		"an application with a long name": {func(e *environment) {
			e.applications[0].Name = strings.Repeat("x", maxResult)
		}, func(t *testing.T, all explanation) {
			require.Empty(t, all.Troubles)
			require.Equal(t, 2, all.More)
			require.Len(t, all.Summary, maxSummary)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := troubled()
			c.change(&e)
			c.check(t, e.why(t, nil))
		})
	}
}

func TestWhyHasASchemaOfItsAnswer(t *testing.T) {
	t.Parallel()
	tools, err := assistant(t, nonexistent).ListTools(t.Context(), nil)
	require.NoError(t, err)
	at := slices.IndexFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "why" })
	schema, err := json.Marshal(tools.Tools[at].OutputSchema)
	require.NoError(t, err)
	for _, name := range []string{
		"summary", "troubles", "problems", "starting", "next_step", "more_problems", "more_stages",
	} {
		require.Contains(t, string(schema), `"`+name+`"`)
	}
}

func TestALongExplanationLeavesLogsOut(t *testing.T) {
	t.Parallel()
	long := []string{strings.Repeat("x", 1000)}
	e := &explanation{Troubles: []trouble{{Stages: []troubledStage{{Log: long}, {Log: long}}},
		{Stages: []troubledStage{{Log: long}}}}}
	whole, err := json.Marshal(e)
	require.NoError(t, err)
	require.NoError(t, e.fit(len(whole)))
	require.Equal(t, long, e.Troubles[1].Stages[0].Log)
	require.NoError(t, e.fit(len(whole)-1))
	require.Equal(t, []string{leftOut}, e.Troubles[1].Stages[0].Log)
	require.Equal(t, long, e.Troubles[0].Stages[1].Log)
}

func TestTheSummarySaysWhetherNothingIsWrongOrNothingIsKnown(t *testing.T) {
	t.Parallel()
	e := &explanation{}
	require.Equal(t, "nothing has failed or waits: of 2 applications, each is healthy and in sync", e.summary(2, ""))
	e.Starting = []string{"kubernetes"}
	require.Equal(t, "no application is known; the environment is still starting: kubernetes", e.summary(0, ""))
	waits := trouble{Application: document.Application{Name: "a"}, Deployment: &document.Deployment{Status: "RUNNING"},
		Stages: []troubledStage{{Stage: document.Stage{ConfigID: "gate",
			Approval: document.Approval{CanApprove: true}}}}}
	fails := trouble{Application: document.Application{Name: "b"}, Deployment: &document.Deployment{Status: "FAILURE"}}
	drifts := trouble{Application: document.Application{Name: "c", Sync: "OUT_OF_SYNC", Health: "HEALTHY"}}
	e.Troubles, e.More, e.Starting = []trouble{waits, fails, drifts}, 1, nil
	require.Equal(t, "a: stage gate waits for approval; b: the newest deployment ended with FAILURE; "+
		"c: OUT_OF_SYNC, HEALTHY; and 1 more application", e.summary(5, ""))
}
