// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// targetLabel is the label by which an application chooses one of several deploy targets.
const targetLabel = "pipedeck.dev/target"

// nothing reports why there is no deployment and what would make one.
func (v Deployment) nothing(width int) []string {
	app := v.Application
	switch {
	case app == nil && v.Environment.GetRepository() == "":
		return v.said(width, "No application has been seen in the repository yet.")
	case app == nil:
		return v.noApplication(width)
	case app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG:
		return append([]string{""}, v.invalid(width)...)
	case app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED:
		return append([]string{""}, v.orphaned(width)...)
	}
	if lines := v.noTarget(width); lines != nil {
		return append([]string{""}, lines...)
	}
	th := v.Theme
	if v.Keys.Sync == "" {
		return []string{"", th.Dim.Render(" No deployment yet.")}
	}
	return []string{
		"", th.Dim.Render(" No deployment yet."),
		th.Dim.Render(fmt.Sprintf(" Commit a change below %s, or press ", app.GetPath())) + th.Key.Render(v.Keys.Sync) +
			th.Dim.Render(" to deploy what is there."),
	}
}

// said wraps sentences, each after a blank line.
func (v Deployment) said(width int, sentences ...string) []string {
	var lines []string
	for _, sentence := range sentences {
		lines = append(lines, "")
		for _, line := range text.Wrap(text.Line(sentence), max(1, width-2)) {
			lines = append(lines, " "+v.Theme.Dim.Render(line))
		}
	}
	return lines
}

// noApplication says what an empty repository needs.
func (v Deployment) noApplication(width int) []string {
	e := v.Environment
	lines := []string{"", " " + v.Theme.Strong.Render("No applications yet")}
	return append(lines, v.said(width,
		fmt.Sprintf("The newest commit of branch %s has no app.pipecd.yaml in %s.", cmp.Or(e.GetBranch(), "HEAD"),
			e.GetRepository()),
		"Write one and commit it; it is deployed at once.",
		"To try a sample instead: pipedeck up --sample hello-world --name sample")...)
}

// invalid says what is wrong with the configuration of the application, and what to do.
func (v Deployment) invalid(width int) []string {
	app := v.Application
	lines := []string{" " + signed(v.Theme.Tones.Bad, v.Theme.Failed, "The configuration is not valid:"), ""}
	for _, line := range text.Wrap(cmp.Or(app.GetSyncReason(), app.GetSyncShortReason()), max(1, width-3)) {
		lines = append(lines, "   "+line)
	}
	return append(lines, "", v.fix(width))
}

// invalidSince says that a commit after the deployment has broken the configuration; none when none has.
func (v Deployment) invalidSince(width int) []string {
	app, status := v.Application, v.Deployment.GetStatus()
	if app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED && !v.Earlier && state.Ended(status) {
		return v.orphaned(width)
	}
	if app.GetSync() != deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG || v.Earlier || !state.Ended(status) ||
		status == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE {
		return nil
	}
	reason := cmp.Or(app.GetSyncReason(), app.GetSyncShortReason())
	return append(v.reasonLines(v.Theme.Tones.Bad, "The configuration is not valid now: "+reason, width), v.fix(width))
}

// orphaned says that the configuration is not in Git any more, and what a user who changes things
// can do.
func (v Deployment) orphaned(width int) []string {
	app := v.Application
	reason := cmp.Or(app.GetSyncShortReason(), "Orphaned")
	lines := v.reasonLines(v.Theme.Tones.Warn, reason+"; what was deployed last still runs", width)
	if v.Keys.Sync == "" {
		return lines
	}
	remove := text.Cut(v.Theme.Dim.Render(" Delete it, too: pipedeck remove "+text.Line(app.GetName())+" --cascade"),
		width, v.Theme.Ellipsis)
	keep := text.Cut(v.Theme.Dim.Render(" Keep what runs: pipedeck remove "+text.Line(app.GetName())+" --orphan"),
		width, v.Theme.Ellipsis)
	return append(lines, remove, keep)
}

// fix says which file to correct.
func (v Deployment) fix(width int) string {
	file := join("/", v.Application.GetPath(), v.Application.GetConfigFilename())
	return text.Cut(v.Theme.Dim.Render(" Fix "+text.Line(file)+" and commit."), width, v.Theme.Ellipsis)
}

// noTarget says why the application has no deploy target; nil when it has one, or may need none.
func (v Deployment) noTarget(width int) []string {
	wanted := text.Line(v.Application.GetLabels()[targetLabel])
	if v.Application == nil || len(v.Application.GetDeployTargets()) > 0 || wanted == "" {
		return nil
	}
	lines := []string{" " + signed(v.Theme.Tones.Bad, v.Theme.Failed,
		fmt.Sprintf("No deploy target is called %q", wanted))}
	var known []string
	for _, cluster := range v.Environment.GetClusters() {
		known = append(known, cluster.GetName())
	}
	about := fmt.Sprintf("The label %s of the application names it.", targetLabel)
	if len(known) > 0 {
		about += " The targets are: " + strings.Join(known, ", ") + "."
	}
	return append(append(lines, v.said(width, about)...), "", v.fix(width))
}

// withoutStages says why a deployment has no stages: its planning goes on, or has ended without a plan.
func (v Deployment) withoutStages(width int) []string {
	d := v.Deployment
	if waits := planningWait(d, v.Now); waits != "" {
		return []string{" " + v.Theme.Warn.Render(strings.ToUpper(waits[:1])+waits[1:])}
	}
	if !state.Ended(d.GetStatus()) {
		return []string{v.Theme.Dim.Render(" Planning: stages appear when piped has read the commit")}
	}
	if lines := v.noTarget(width); lines != nil {
		return lines
	}
	lines := []string{v.Theme.Dim.Render(" It ended in its planning; no stage ran.")}
	if d.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE && v.Application != nil {
		lines = append(lines, v.fix(width))
	}
	return lines
}
