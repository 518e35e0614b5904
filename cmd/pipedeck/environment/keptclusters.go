// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// checkKeptClusters refuses other clusters than those of the last run of an environment that was kept. Its history says
// what was deployed there, and the next run would take that for deployed in the new ones.
func (f *Flags) checkKeptClusters(w *workspace.Workspace) error {
	last, err := w.LastRun()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no run of it has come so far
	}
	if err != nil {
		return err
	}
	parsed, err := f.clusterFlags.parse()
	if err != nil {
		return err
	}
	wanted := map[string]string{}
	for _, one := range parsed {
		wanted[one.name] = string(one.kind)
	}
	same := maps.EqualFunc(last.Clusters, wanted, func(before, now string) bool {
		return before == now || before == string(clusterAuto) || now == string(clusterAuto)
	})
	if same && f.sameContext(last) {
		return nil
	}
	return f.otherClusters(w, last, wanted)
}

// otherClusters is the error of checkKeptClusters.
func (f *Flags) otherClusters(w *workspace.Workspace, last *workspace.Running, wanted map[string]string) error {
	was := "it has " + clustersText(last.Clusters) + ", not " + clustersText(wanted)
	if maps.Equal(last.Clusters, wanted) {
		was = "it has another kubeconfig or context"
	}
	again := "give the same clusters"
	if last.Restart != nil && slices.Contains([]string{"pipedeck up", "pipedeck host"}, f.command()) {
		here, _ := os.Getwd() // without one, the command names the directory
		again = "start it as it was: " + session.Again(w, last.Restart, here)
	}
	return exit.Usage(fmt.Errorf("environment %q was kept with other clusters: %s", w.Name, was),
		again+"; or choose another --name; or remove it first, which deletes "+workspace.LossOf(w)+
			": pipedeck down"+session.Flags(w))
}

// refuseOtherClusters is checkKeptClusters for an environment that may have deployed nothing yet. A note of the last
// run that cannot be read keeps nothing from being started.
func (f *Flags) refuseOtherClusters(w *workspace.Workspace) error {
	if err := f.checkKeptClusters(w); isUsage(err) {
		return err
	}
	return nil
}

// sameContext reports whether an existing cluster is named by the same kubeconfig and context as before.
func (f *Flags) sameContext(last *workspace.Running) bool {
	was := startedWith(last)
	if was == nil || !slices.Contains(slices.Collect(maps.Values(last.Clusters)), string(cluster.Existing)) {
		return true
	}
	for _, flag := range startFlags {
		if (flag.name == "context" || flag.name == "kubeconfig") &&
			!slices.Equal(flag.seenFrom(last.Restart.Directory, was), flag.seenFrom("", f)) {
			return false
		}
	}
	return true
}

// clustersText lists clusters as --cluster does: "dev=kind, prod=kind".
func clustersText(kinds map[string]string) string {
	if len(kinds) == 0 {
		return "none"
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, name+"="+kinds[name])
	}
	return strings.Join(all, ", ")
}
