// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// TestDifferencesOfCommitsAreThoseOfPipeCD compares with what PipeCD's plugin has answered, which knows no cluster.
// What differs, and why:
//
//   - The note that no cluster was asked, and the word behind each object that says what happens to it, are ours.
//   - Lines around changes are not compared: PipeCD writes None, which is no YAML, for a value that is missing.
//   - PipeCD compares manifests as they are in Git; ours are as they are applied, with the hash of the configuration.
func TestDifferencesOfCommitsAreThoseOfPipeCD(t *testing.T) {
	t.Parallel()
	for _, recording := range []string{"a6-plan-preview-conflict-and-ok", "a6b-plan-preview-k8s"} {
		for _, recorded := range readPreviews(t, recording) {
			name := "kc"
			if strings.Contains(string(recorded.GetDetails()), `name="kq"`) {
				name = "kq"
			}
			commit := func(hash, version string) *stage.Source {
				s := source(t, hash, "x", "")
				require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "conf.yaml"),
					[]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+
						"-conf}\ndata: {v: \""+version+"\"}\n"), 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "deployment.yaml"),
					[]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "+name+
						"}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: "+name+"}}\n  template:\n    "+
						"metadata: {labels: {app: "+name+
						"}}\n    spec:\n      containers: [{name: main, image: \"app:v"+version+
						"\", envFrom: [{configMapRef: {name: "+name+"-conf}}]}]\n"), 0o600))
				s.App.Input.Namespace = "default"
				return s
			}
			p, target := unreachable(t, recorded.GetDeployTarget())
			previews, err := p.Preview(t.Context(), Query{ApplicationID: "a",
				Destinations: []Destination{{Target: target, Running: commit("1", "2"), Wanted: commit("2", "9")}}})
			require.NoError(t, err)
			require.Equal(t, recorded.GetSummary(), previews[0].Summary)
			require.Equal(t, recorded.GetDeployTarget(), previews[0].Target)
			require.Equal(t, recorded.GetNoChange(), previews[0].NoChange)

			_, details, _ := strings.Cut(previews[0].Details, "\n")
			require.Equal(t, changedLines(string(recorded.GetDetails())),
				changedLines(strings.ReplaceAll(details, " (changed)\n", "\n")), recording)
		}
	}
}

// changedLines leaves out what stands around, and the hash of the configuration.
func changedLines(details string) (kept []string) {
	for line := range strings.Lines(details) {
		if strings.ContainsAny(line[:1], "+-#") && !strings.Contains(line, "config-hash") {
			kept = append(kept, line)
		}
	}
	return kept
}

// readPreviews returns the recorded answers of plugin kubernetes.
func readPreviews(t *testing.T, recording string) (results []*planpreview.PlanPreviewResult) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "api", "testdata", "recordings", recording+".jsonl"))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var call struct {
			Link, Method string
			Resp         []byte
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &call))
		if call.Link != "piped>kubernetes" || !strings.HasSuffix(call.Method, "/GetPlanPreview") {
			continue
		}
		answer := &planpreview.GetPlanPreviewResponse{}
		require.NoError(t, proto.Unmarshal(call.Resp, answer))
		results = append(results, answer.GetResults()...)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, results)
	return results
}
