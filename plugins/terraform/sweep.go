// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

const (
	// keepPlans is how long saved plans are kept that nothing has deleted, because they hold secrets. A deployment that
	// waits longer makes its plan again.
	keepPlans = 24 * time.Hour
	// keepChanges is how long it is known what the plans of a deployment had: no deployment takes longer.
	keepChanges = 14 * 24 * time.Hour

	// plansName and dataName are folders in workDir, planEnd and changesEnd the ends of the names of files in them.
	plansName  = "plans"
	dataName   = "data"
	planEnd    = ".tfplan"
	changesEnd = ".json"
	// lookName is the plan of a look in its data directory.
	lookName = "look" + planEnd
)

// dropPlans deletes the plans of a deployment when its stage has ended and no later one needs them.
func (p *plugin) dropPlans(ctx context.Context, req *executeRequest, result sdk.Result) {
	if errors.Is(sdk.StopCause(ctx), sdk.ErrShuttingDown) {
		return // the stage goes on as its next attempt
	}
	if req.Stage.Name == config.StagePlan && result == sdk.Success {
		return
	}
	for _, target := range req.Targets {
		p.filesOf(req.Deployment.ID, target.Name).remove()
	}
}

// sweep deletes old plans that nothing has deleted: their stage never came, or the plugin was killed. It leaves alone
// what has other names than its own files.
func (p *plugin) sweep() error {
	dir := filepath.Join(p.workDir, plansName)
	deployments, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a user may empty a cache at any time
		return fmt.Errorf("read the folder of saved plans: %w", err)
	}
	for _, deployment := range deployments {
		if !deployment.IsDir() {
			continue
		}
		sweepIn(filepath.Join(dir, deployment.Name()))
	}
	looks, err := filepath.Glob(filepath.Join(escaped(p.workDir), dataName, "*", "*", "*", lookName))
	for _, path := range looks {
		removeOlder(path, keepPlans)
	}
	return err
}

// sweepIn deletes old files of a deployment, and its folder with the last one. What fails is tried again next time.
func sweepIn(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch filepath.Ext(entry.Name()) {
		case planEnd:
			removeOlder(path, keepPlans)
		case changesEnd:
			removeOlder(path, keepChanges)
		}
	}
	if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > keepPlans {
		_ = os.Remove(dir) // only when it is empty
	}
}

func removeOlder(path string, age time.Duration) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > age {
		_ = os.Remove(path)
	}
}

// escaped is a path as a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
