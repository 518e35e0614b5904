// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func object(t *testing.T, text string) manifest.Manifest {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return manifest.Manifest{Unstructured: o}
}

const conf = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {pipecd.dev/commit-hash: %s}}\n" +
	"data: {v: \"%s\"}\n"

func TestCommitsAreComparedInTheFormOfPipeCD(t *testing.T) {
	t.Parallel()
	before := []manifest.Manifest{object(t, fmt.Sprintf(conf, "changes", "a", "2")),
		object(t, fmt.Sprintf(conf, "stays", "a", "1")), object(t, fmt.Sprintf(conf, "goes", "a", "1"))}
	after := []manifest.Manifest{object(t, fmt.Sprintf(conf, "changes", "b", "9")),
		object(t, fmt.Sprintf(conf, "stays", "b", "1")), object(t, fmt.Sprintf(conf, "comes", "b", "1"))}
	found := &changes{}
	compareCommits(before, after, pruning{enabled: true}, found)
	summary, details := found.render()
	require.Equal(t, "1 added manifests, 1 changed manifests, 1 deleted manifests", summary)
	require.Equal(t, `# 1. name="changes", kind="ConfigMap", namespace="", apiGroup="" (changed)

@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  v: "2"
+  v: "9"
 kind: ConfigMap
 metadata:
   name: changes
# 2. name="comes", kind="ConfigMap", namespace="", apiGroup="" (added)

@@ -0,0 +1,6 @@
+apiVersion: v1
+data:
+  v: "1"
+kind: ConfigMap
+metadata:
+  name: comes
# 3. name="goes", kind="ConfigMap", namespace="", apiGroup="" (deleted)

@@ -1,6 +0,0 @@
-apiVersion: v1
-data:
-  v: "1"
-kind: ConfigMap
-metadata:
-  name: goes
`, details)

	found = &changes{}
	compareCommits(before, after, pruning{}, found)
	summary, details = found.render()
	require.Equal(t, "1 added manifests, 1 changed manifests, 0 deleted manifests; 1 that are not in Git any more stay",
		summary)
	require.Contains(t, details, "#   ConfigMap goes\n")
	require.False(t, found.none())
}

func TestValuesOfSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	secret := func(fields string) manifest.Manifest {
		return object(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"+fields)
	}
	for name, c := range map[string]struct {
		before, after string
		lines         []string
	}{
		"changed": {"data: {k: aHVudGVyMg==}", "stringData: {k: other}",
			[]string{"-  k: '****** (before)'", "+  k: '****** (after)'"}},
		"added and removed": {"data: {gone: aHVudGVyMg==}", "data: {new: aHVudGVyMg==}",
			[]string{"-  gone: '******'", "+  new: '******'"}},
		"the same": {"data: {k: aHVudGVyMg==}", "stringData: {k: hunter2}", nil},
	} {
		found := &changes{}
		compareCommits([]manifest.Manifest{secret(c.before)}, []manifest.Manifest{secret(c.after)}, pruning{}, found)
		_, details := found.render()
		for _, line := range c.lines {
			require.Contains(t, details, line, name)
		}
		require.Equal(t, c.lines == nil, found.none(), name)
		require.NotContains(t, details, "hunter2")
		require.NotContains(t, details, "aHVudGVyMg")
		require.NotContains(t, details, "other")
	}
}

func TestAnObjectThatIsCreatedAgainIsComparedByWhatGitSays(t *testing.T) {
	t.Parallel()
	live := object(t, "apiVersion: batch/v1\nkind: Job\n"+
		"metadata: {name: j, uid: u, labels: {pipecd.dev/application: a}}\n"+
		"spec: {defaulted: 1, template: {image: [a, b]}}\nstatus: {x: 1}\n")
	wanted := object(t, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {image: [a, c]}}\n")
	found := &changes{}
	recreated := apply.Trial{Manifest: wanted, Live: live.Unstructured, After: wanted.Unstructured, Recreate: true}
	found.applied(recreated, "a")
	summary, details := found.render()
	require.Contains(t, summary, "1 changed manifests")
	require.Contains(t, details, "# it would be deleted and created again\n")
	require.Contains(t, details, "-    - b\n+    - c\n")
	require.NotContains(t, details, "defaulted")
}

func TestDetailsAreBounded(t *testing.T) {
	t.Parallel()
	found := &changes{}
	for i := range 200 {
		found.added(manifest.Key{Name: fmt.Sprint(i)},
			object(t, fmt.Sprintf(conf, "n", "a", strings.Repeat("x", 10<<10))).Unstructured)
	}
	summary, details := found.render()
	require.Contains(t, summary, "200 added")
	require.LessOrEqual(t, len(details), maxDetails+100)
	require.Regexp(t, `# \d+ more objects are not shown\n$`, details)
}
