// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// Piped stands in for piped: it keeps what the plugin reports, and waits for what a test expects of it.
type Piped struct {
	wire  *wiretest.Piped
	calls *calls
}

// Log returns the text of a stage's log so far, one line end after each entry.
func (p *Piped) Log(stageID string) string { return p.wire.Log(stageID) }

// Entries are what the log of a stage holds for good. Lines of output may be one entry or several.
func (p *Piped) Entries(stageID string) (entries []Entry) {
	for _, block := range p.wire.Blocks(stageID, true) {
		entries = append(entries, Entry{Severity: Severity(block.GetSeverity()),
			Text: strings.TrimSuffix(block.GetLog(), "\n")})
	}
	return entries
}

// Completed is whether the log of the stage was reported as complete, which is the last that a stage does.
func (p *Piped) Completed(stageID string) bool { return p.wire.Completed(stageID) }

// StageMetadata returns a copy of what a stage put.
func (p *Piped) StageMetadata(stageID string) map[string]string { return p.wire.StageMetadata(stageID) }

// SetStageMetadata plays an earlier attempt of the stage.
func (p *Piped) SetStageMetadata(stageID, key, value string) {
	p.wire.SetStageMetadata(stageID, key, value)
}

// DeploymentMetadata returns a copy of what a plugin put for the deployment.
func (p *Piped) DeploymentMetadata(plugin string) map[string]string {
	return p.wire.PluginMetadata(plugin)
}

// SetSharedMetadata plays piped's own notes on the deployment.
func (p *Piped) SetSharedMetadata(key, value string) { p.wire.SetSharedMetadata(key, value) }

// BeginDeployment forgets what plugins have stored for a deployment, as another one has nothing of it. Objects of
// applications stay.
func (p *Piped) BeginDeployment() { p.wire.BeginDeployment() }

// Installed names the tools that the plugin asked for, as name-version.
func (p *Piped) Installed() []string { return p.wire.Installed() }

// Approve gives a stage an approval by a user.
func (p *Piped) Approve(stageID, commander string) { p.wire.Approve(stageID, commander) }

// Skip asks a stage to skip, by a user.
func (p *Piped) Skip(stageID, commander string) { p.wire.Skip(stageID, commander) }

// Fail answers calls of the plugin with an error until it is nil. The calls are named as in the protocol, such as
// PutStageMetadata, InstallTool and PutApplicationSharedObject.
func (p *Piped) Fail(call string, err error) {
	p.calls.fail(call, err)
	p.wire.OnCall(p.calls.made)
}

// Wait returns when the condition holds after some report; it fails the test after 20 seconds.
func (p *Piped) Wait(t testing.TB, what string, condition func() bool) {
	t.Helper()
	p.wire.Wait(t, what, condition)
}

// WaitLog returns when the log of a stage holds text; it fails the test after 20 seconds.
func (p *Piped) WaitLog(t testing.TB, stageID, text string) {
	t.Helper()
	p.wire.WaitLog(t, stageID, text)
}
