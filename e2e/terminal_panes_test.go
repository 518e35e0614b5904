// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/system/filetest"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// twoScripts is a pipeline whose first stage lets its plugin write, and whose second fails with version v2.
const twoScripts = `  planner:
    alwaysUsePipeline: true
  pipeline:
    stages:
      - id: compile
        name: SCRIPT_RUN
        with: {run: "echo the licence was found >&9; for i in 1 2 3; do echo compiled part $i; done"}
      - {id: verify, name: SCRIPT_RUN, with: {run: "cat version; ! grep -q v2 version"}}
`

// panesStory is one environment in which a user goes from pane to pane.
type panesStory struct {
	*environment
	dir string
	ui  *terminal
	// colors are the ConfigMaps of the application "settings" in the cluster.
	colors dynamic.ResourceInterface
}

// settings is the manifest of the application with this name.
func settings(color string) map[string]string {
	return map[string]string{"settings/conf.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n" +
		"data:\n  color: " + color + "\n"}
}

func startPanes(t *testing.T) *panesStory {
	t.Helper()
	p := &panesStory{environment: newEnvironment(t)}
	files := settings("blue")
	files["settings/app.pipecd.yaml"] = application("settings", "")
	files["web/app.pipecd.yaml"], files["web/version"] = application("web", twoScripts), "v1\n"
	p.dir = repository(t, files)
	talkative := filepath.Join(t.TempDir(), "scriptrun") // a plugin that writes for itself what comes from 9
	require.NoError(t, os.WriteFile(talkative, fmt.Appendf(nil,
		"#!/bin/sh\nexec 9>&2\nexec '%s/plugins/scriptrun' \"$@\"\n", p.Bin), 0o755))
	p.ui = openTerminal(t, p.command("up", p.dir, "--plugin", "scriptrun="+talkative), 150, 45, "SHELL=/bin/sh",
		"ENV=", "PS1=in the shell> ")
	p.awaitDeployment("settings", "SUCCESS")
	p.awaitDeployment("web", "SUCCESS")
	config, err := clientcmd.BuildConfigFromFlags("", p.Dir("kubeconfig"))
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	p.colors = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	return p
}

// selects goes to an application in the list.
func (p *panesStory) selects(app string) {
	p.t.Helper()
	p.ui.presses("1/" + app + "\r")
	p.ui.sees(`2 Deployment · ` + app)
}

// color is the value of the ConfigMap in the API server.
func (p *panesStory) color() string {
	p.t.Helper()
	live, err := p.colors.Get(p.t.Context(), "settings", metav1.GetOptions{})
	require.NoError(p.t, err)
	return live.Object["data"].(map[string]any)["color"].(string)
}

// A day at the screen: what another user changed by hand, a deployment that fails, and a branch before its merge.
func TestPanesShowDriftLogsInsightsAndAPreviewOfARealEnvironment(t *testing.T) {
	t.Parallel()
	p := startPanes(t)
	p.putsBackWhatWasChangedByHand()
	p.worksInAShell()
	filetest.Write(t, p.dir, map[string]string{"web/version": "v2\n"})
	gittest.Commit(t, p.dir, "Release v2")
	p.awaitDeployment("web", "FAILURE")
	p.readsTheTimeLine()
	p.inspectsTheStageThatFailed()
	p.measures()
	p.previewsABranch()
	p.ui.presses("q")
	p.ui.sees(`keep it running`)
	p.ui.presses("y")
	require.Zero(t, p.ui.wait())
	require.True(t, p.ui.restored())
}

func (p *panesStory) putsBackWhatWasChangedByHand() {
	p.t.Helper()
	_, err := p.colors.Patch(p.t.Context(), "settings", types.MergePatchType, []byte(`{"data":{"color":"red"}}`),
		metav1.PatchOptions{FieldManager: "editor"})
	require.NoError(p.t, err)
	before := len(p.list("deployments"))
	p.selects("settings")
	p.ui.presses("t")
	p.ui.sees(`ConfigMap`)
	p.ui.presses("n")
	p.ui.sees(`in Git +live +last applied`)
	p.ui.sees(`data\.color +"?blue"? +"?red"? +"?blue"?`)
	p.ui.sees(`live was changed by editor: Git and last applied agree`)
	p.ui.presses("p")
	p.ui.sees(`Put ConfigMap settings back as in Git\?`)
	require.Equal(p.t, "red", p.color(), "it asks first")
	p.ui.presses("y")
	waitUntil(p.t, "the API server has the value of Git", func() bool { return p.color() == "blue" })
	p.ui.loses(`data\.color`)
	p.awaitDeployment("settings", "SUCCESS")
	require.Len(p.t, p.list("deployments"), before+1, "one sync")
}

// worksInAShell opens a shell, whose environment names the cluster, and comes back.
func (p *panesStory) worksInAShell() {
	p.t.Helper()
	p.ui.presses("$")
	p.ui.sees(`exit returns to pipedeck`)
	p.ui.sees(`in the shell>`)
	p.ui.presses("test -s \"$KUBECONFIG\" && echo \"it is ${KUBECONFIG##*/}\"\r")
	p.ui.sees(`it is kubeconfig`)
	p.ui.presses("exit\r")
	p.ui.sees(`the shell has ended`)
	p.ui.sees(`1 Applications`)
}

// readsTheTimeLine merges the logs of both stages and of their plugin, and copies two lines.
func (p *panesStory) readsTheTimeLine() {
	p.t.Helper()
	p.selects("web")
	p.ui.sees(`FAILURE`)
	p.ui.presses("3m")
	p.ui.sees(`compile +compiled part 3`)
	p.ui.sees(`verify +v2`)
	p.ui.presses("p")
	p.ui.sees(`· scriptrun +the licence was found`)
	p.ui.presses("p")
	p.ui.presses("m")
	p.ui.loses(`compile +compiled part 3`)

	p.ui.presses("2g3")
	p.ui.sees(`3 Log · compile`)
	p.ui.presses("/part 2\r")
	p.ui.sees(`1 of 1 hit`)
	p.ui.presses("vjy")
	p.ui.sees(`copied 2 lines`)
	written := regexp.MustCompile(`\x1b\]52;c;([A-Za-z0-9+/=]+)`).FindStringSubmatch(p.ui.output())
	require.NotNil(p.t, written, "nothing went to the clipboard")
	content, err := base64.StdEncoding.DecodeString(written[1])
	require.NoError(p.t, err)
	require.Equal(p.t, "compiled part 2\ncompiled part 3\n", string(content))
}

func (p *panesStory) inspectsTheStageThatFailed() {
	p.t.Helper()
	p.ui.presses("2Gi")
	p.ui.sees(`Stage verify of web`)
	p.ui.sees(`✗ failed after `)
	p.ui.sees(`needs +✓ compile`)
	p.ui.sees(`cat version; ! grep -q v2 version`)
	p.ui.sees(`scriptrun`)
	p.ui.sees(`the licence was found`)
	id := ""
	for _, s := range p.newestDeployment("web")["stages"].([]any) {
		if s := s.(map[string]any); s["config_id"] == "verify" {
			id, _ = s["id"].(string)
		}
	}
	require.NotEmpty(p.t, id)
	p.ui.sees(regexp.QuoteMeta(id))
	p.ui.presses("\x1b")
	p.ui.loses(`Stage verify of web`)
}

// measures compares the insights with the list of deployments.
func (p *panesStory) measures() {
	p.t.Helper()
	var succeeded, failed int
	for _, d := range p.list("deployments") {
		switch d["status"] {
		case "SUCCESS":
			succeeded++
		case "FAILURE":
			failed++
		}
	}
	require.Equal(p.t, 1, failed)
	p.ui.presses("I")
	p.ui.sees(fmt.Sprintf(`%d successful deployments`, succeeded))
	p.ui.sees(fmt.Sprintf(`1 of %d deployments failed`, succeeded+failed))
	p.ui.presses("/web\r")
	p.ui.sees(`web`)
	p.ui.presses("j")
	p.ui.sees(`1 of 2 deployments failed`)
}

// previewsABranch sees what merging a branch would change, which deploys nothing.
func (p *panesStory) previewsABranch() {
	p.t.Helper()
	before := len(p.list("deployments"))
	gittest.Run(p.t, p.dir, "checkout", "-q", "-b", "feature/green")
	filetest.Write(p.t, p.dir, settings("green"))
	gittest.Commit(p.t, p.dir, "Paint it green")
	gittest.Run(p.t, p.dir, "checkout", "-q", "main")
	p.ui.presses("P")
	p.ui.sees(`feature/green`)
	p.ui.presses("green")
	p.ui.sees(`green▏?`)
	p.ui.presses("\r")
	p.ui.sees(`settings`)
	p.ui.sees(`- +color: blue`)
	p.ui.sees(`\+ +color: green`)
	require.Len(p.t, p.list("deployments"), before, "a preview deploys nothing")
	require.Equal(p.t, "blue", p.color())
}
