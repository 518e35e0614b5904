// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestReportsAreAsTheirSchemaSays(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../../docs/schemas/ci-report.json")
	require.NoError(t, err)
	defer file.Close()
	document, err := jsonschema.UnmarshalJSON(file)
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("ci-report.json", document))
	schema, err := compiler.Compile("ci-report.json")
	require.NoError(t, err)
	check := func(run Run) error {
		data, err := JSON(run)
		require.NoError(t, err)
		read, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err)
		return schema.Validate(read)
	}
	require.NoError(t, check(many(t)))
	require.NoError(t, check(Build(Facts{Ended: time.Now()})), "a run without a repository")
	hostile := hostileRun()
	hostile.Schema = Schema
	require.NoError(t, check(hostile))
	lacking := Build(facts(t, failed("x", &deckv1.Cause{Kind: "NO_CRD", Place: "deployment.yaml:1"}), nil))
	require.NoError(t, check(lacking))
	for _, result := range Results() {
		run := Build(Facts{Checked: []*workspace.Checked{{File: "a", Labels: map[string]string{"a": "b"}}}})
		run.Applications[0].Result = result
		require.NoError(t, check(run), result)
	}
	run := many(t)
	for _, code := range exit.Codes() {
		run.ExitCode = code.Number
		require.NoError(t, check(run), code.Meaning)
	}
	run.Applications[0].Result = "OTHER"
	require.Error(t, check(run))
}
