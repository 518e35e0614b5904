// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goversion "go/version"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/owned"
)

// compileDiskLeast is what Go's cache and the program of the embedded Kubernetes take when it is compiled.
const compileDiskLeast = 1500 * mib

const installGo = "install it: https://go.dev/dl/"

// programs looks for piped and the plugins that an environment runs.
func (d *Doctor) programs(context.Context) Check {
	if d.Programs == nil {
		return Check{}
	}
	found, err := d.Programs()
	if err == nil {
		return ok("%s", found)
	}
	return Check{State: Fail, Found: err.Error(), Why: "an environment runs piped and its plugins",
		Fix: cmp.Or(hintOf(err), "build them with: make build")}
}

// hintOf returns the next step that an error knows; empty for none.
func hintOf(err error) string {
	if hinted := (*cluster.HintError)(nil); errors.As(err, &hinted) {
		return hinted.Hint
	}
	if refused := (*owned.Error)(nil); errors.As(err, &refused) {
		return refused.Hint
	}
	return ""
}

// embedded looks for the program of the embedded Kubernetes, or for what is needed to compile it.
func (d *Doctor) embedded(ctx context.Context) Check {
	if d.Embedded == nil {
		return Check{}
	}
	c := d.embeddedProgram(ctx)
	if c.State != Fail || d.asks(cluster.Embedded) {
		return c
	}
	if _, err := d.Engine(ctx); err == nil {
		c.State, c.Why = Warn, "auto uses kind here; without a container engine it needs the embedded Kubernetes"
	}
	return c
}

// embeddedCluster names what an embedded cluster lacks. Nothing can be done about it, so it is no warning.
func (d *Doctor) embeddedCluster(context.Context) Check {
	if d.Embedded == nil {
		return Check{}
	}
	kinds, features := embedded.Absent()
	return ok("it lacks %s; nothing acts on objects of the kinds %s", strings.Join(features, ", "),
		strings.Join(kinds, ", "))
}

func (d *Doctor) embeddedProgram(ctx context.Context) Check {
	const why = "the cluster of --cluster embedded is this program"
	found, err := d.Embedded()
	if err != nil {
		return Check{State: Fail, Found: err.Error(), Why: why, Fix: cmp.Or(hintOf(err), "build it again: make build")}
	}
	if found.Compiled() {
		return ok("%s", found.Path)
	}
	out, err := d.Run(ctx, "go", "env", "GOVERSION", "GOTOOLCHAIN", "GOCACHE")
	lines := append(strings.Split(strings.TrimSpace(string(out)), "\n"), "", "", "")
	has, toolchain, cache := lines[0], lines[1], lines[2]
	asked := "go" + found.GoVersion()
	switch {
	case err != nil:
		return Check{State: Fail, Found: "it has to be compiled, and there is no go command", Why: why, Fix: installGo}
	case goversion.Compare(has, asked) < 0 && toolchain == "local":
		return Check{State: Fail, Found: fmt.Sprintf("it is compiled by %s, and there is %s", asked, has), Why: why,
			Fix: "install a newer Go, or let go fetch it: go env -w GOTOOLCHAIN=auto"}
	}
	for _, dir := range []string{cache, filepath.Dir(found.Path)} {
		if free, err := d.Free(ctx, dir); dir != "" && err == nil && free < compileDiskLeast {
			return Check{State: Fail,
				Found: fmt.Sprintf("it has to be compiled, and %s are free in %s", size(free), dir),
				Why:   fmt.Sprintf("compiling it takes %s", size(compileDiskLeast)),
				Fix:   "free some space: go clean -cache"}
		}
	}
	return ok("the first start compiles it into %s", found.Path)
}

// stateDirectory looks whether an environment can be created, or used again, where it would be.
func (d *Doctor) stateDirectory(context.Context) Check {
	const why = "an environment lives there, and runs the plugins that it keeps there"
	const other = "choose another place with --state-dir"
	w, err := workspace.At(d.StateDir, cmp.Or(d.Name, "default"))
	if err == nil {
		_, err = w.Exists()
	}
	if err != nil {
		return Check{State: Fail, Found: err.Error(), Why: why, Fix: cmp.Or(hintOf(err), other)}
	}
	mount, err := d.Mount(d.StateDir)
	switch {
	case err != nil:
		return Check{State: Warn, Found: err.Error(), Why: why, Fix: other}
	case !mount.Writable:
		return Check{State: Fail, Found: "nothing can be written to " + d.StateDir, Why: why, Fix: other}
	case !mount.Executable:
		return Check{State: Fail, Found: d.StateDir + " is on a file system that is mounted noexec", Why: why,
			Fix: other}
	}
	return ok("%s", w.Dir)
}
