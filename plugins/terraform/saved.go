// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/change"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// shown is what a deployment remembers of a plan that users have seen. The plan itself stays on this machine, because
// it holds secrets.
type shown struct {
	Commit string         `json:"commit"`
	Moment session.Moment `json:"state"`
	// Sum is that of the file, Digest that of the changes.
	Sum    string `json:"sum"`
	Digest string `json:"digest"`
}

// shownKey is where it is remembered for a deploy target.
func shownKey(target string) sdk.DeploymentKey[shown] {
	return sdk.DeploymentKey[shown]("plan-" + target)
}

// touchedKey is whether the deployment has begun to change something at a deploy target.
func touchedKey(target string) sdk.DeploymentKey[bool] {
	return sdk.DeploymentKey[bool]("touched-" + target)
}

// startedKey and appliedKey are how far a stage that applies is at a deploy target.
func startedKey(target string) sdk.StageKey[bool] { return sdk.StageKey[bool]("started-" + target) }
func appliedKey(target string) sdk.StageKey[bool] { return sdk.StageKey[bool]("applied-" + target) }

// files are the plans of one deployment at one deploy target.
type files struct{ base string }

func (p *plugin) files(deploymentID, target string) (files, error) {
	f := p.filesOf(deploymentID, target)
	if err := os.MkdirAll(filepath.Dir(f.base), 0o700); err != nil {
		return files{}, fmt.Errorf("create the folder of saved plans: %w", err)
	}
	return f, nil
}

// filesOf is files without their folder, which may not exist.
func (p *plugin) filesOf(deploymentID, target string) files {
	return files{filepath.Join(p.workDir, plansName, url.PathEscape(deploymentID), url.PathEscape(target))}
}

// plan is the plan that is shown, rest the one of a stage that goes on, back that of a rollback.
func (f files) plan() string    { return f.base + planEnd }
func (f files) rest() string    { return f.base + ".rest" + planEnd }
func (f files) back() string    { return f.base + ".back" + planEnd }
func (f files) changes() string { return f.base + changesEnd }

// remove deletes plans that no stage needs any more, but not what the plan had, which a rollback reads.
func (f files) remove() {
	for _, path := range []string{f.plan(), f.rest(), f.back()} {
		_ = os.Remove(path) // what is left goes with the next sweep
	}
}

// putChanges remembers what the plan that is shown has.
func (f files) putChanges(set *change.Set) error {
	data, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return os.WriteFile(f.changes(), data, 0o600)
}

// getChanges returns what the plan that was shown has; nil when this machine does not know it.
func (f files) getChanges() (*change.Set, error) {
	data, err := os.ReadFile(f.changes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	set := &change.Set{}
	if err := json.Unmarshal(data, set); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.changes(), err)
	}
	return set, nil
}
