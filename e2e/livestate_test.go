// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// What is pushed is asked for by the clock every ten minutes only, so that what comes within patience was pushed.
func TestAnEditByHandShowsWithoutBeingAskedFor(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	up := e.start("up", repository(t, map[string]string{
		"settings/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: settings\n" +
			"  plugins: {kubernetes: {}}\n",
		"settings/conf.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n" +
			"data: {color: blue}\n",
	}))
	sync := func(state, reason string) func(event) bool {
		return func(ev event) bool {
			said, _ := ev["reason"].(string)
			return ev.is("application", "name", "settings", "sync", state) && strings.Contains(said, reason)
		}
	}
	up.await("the application is in sync", sync("SYNCED", ""))

	config, err := clientcmd.BuildConfigFromFlags("", e.Dir("kubeconfig"))
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	edit := func(color string) {
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1",
			Resource: "configmaps"}).Namespace("default").Patch(t.Context(), "settings",
			types.MergePatchType, []byte(`{"data":{"color":"`+color+`"}}`), metav1.PatchOptions{FieldManager: "editor"})
		require.NoError(t, err)
	}
	edit("red")
	up.await("the edit is drift", sync("OUT_OF_SYNC", `data.color: "blue" in Git, "red" live`))
	require.Equal(t, map[string]any{"total": 1.0, "drifted": 1.0, "unhealthy": 0.0, "unknown": 0.0},
		e.list("apps")[0]["resources"])
	tree := e.document("resources", 0, "tree", "settings")["resources"].([]any)
	require.Equal(t, `data.color: "blue" in Git, "red" live`, tree[0].(map[string]any)["drift"])
	require.Equal(t, tree, e.document("resources", 1, "diff", "settings", "--exit-code")["resources"])
	require.Contains(t, e.pipedeck("diff", "settings").Stdout, "  data.color: live was changed by editor")
	edit("green")
	up.await("another edit is another drift", sync("OUT_OF_SYNC", `"green" live`))
}
