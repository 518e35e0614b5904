// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// maxListed bounds how much of what is left over one line names.
const maxListed = 5

// environments looks for environments whose host was killed: one that ends takes its list of
// processes away.
func (d *Doctor) environments(context.Context) Check {
	all, _, err := workspace.List(d.StateDir)
	if err != nil {
		return Check{State: Warn, Found: err.Error(), Why: "environments live there",
			Fix: "choose another place with --state-dir"}
	}
	running := 0
	var killed, names []string
	for _, w := range all {
		alive, err := w.Alive()
		if err != nil {
			return Check{State: Warn, Found: err.Error(), Why: "it may be left over", Fix: d.down(w.Name)}
		}
		published, err := w.Published()
		switch {
		case alive:
			running++
		case err == nil:
			line := fmt.Sprintf("%s (pid %d is gone", w.Name, published.PID)
			if orphans := d.Orphans(w); len(orphans) > 0 {
				line += "; it left " + strings.Join(orphans, ", ")
			}
			killed, names = append(killed, line+")"), append(names, w.Name)
		}
	}
	if len(killed) == 0 {
		return ok("%d, of which %d run", len(all), running)
	}
	fix := d.down(names[0])
	if len(names) > 1 {
		fix += ", the same for the others"
	}
	return Check{State: Warn, Found: "killed: " + some(killed),
		Why: "their clusters and data take up room; up goes on with them", Fix: fix}
}

func (d *Doctor) down(name string) string {
	return fmt.Sprintf("pipedeck down --name %s --state-dir %s", name, d.StateDir)
}

// kindClusters looks for clusters that have our name and that no environment here knows.
func (d *Doctor) kindClusters(ctx context.Context) Check {
	e, err := d.Engine(ctx)
	if err != nil {
		return Check{}
	}
	out, err := d.Run(ctx, e.Name, "ps", "-a", "--filter", "label=io.x-k8s.kind.cluster", "--format", "{{.Names}}")
	if err != nil {
		return Check{State: Warn, Found: err.Error(), Why: "clusters may be left over", Fix: "kind get clusters"}
	}
	all, _, err := workspace.List(d.StateDir)
	if err != nil {
		return Check{}
	}
	var known []string
	for _, w := range all {
		clusters, err := os.ReadDir(w.Path("cluster"))
		if err != nil {
			continue // none was made yet
		}
		for _, c := range clusters {
			if name := record.RecordedName(w.ClusterDir(c.Name())); name != "" {
				known = append(known, name)
			}
		}
	}
	var ours, left []string
	for _, node := range strings.Fields(string(out)) {
		if !record.HasOurName(node) {
			continue
		}
		ours = append(ours, node)
		if !slices.ContainsFunc(known, func(name string) bool { return strings.HasPrefix(node, name+"-") }) {
			left = append(left, node)
		}
	}
	if len(left) == 0 {
		return ok("%d node(s) of ours", len(ours))
	}
	return Check{
		State: Warn, Found: "no environment in " + d.StateDir + " knows " + some(left), Why: "they take up memory",
		Fix: e.Name + " rm -f -v " + strings.Join(left, " ") +
			" (unless an environment in another --state-dir has them)",
	}
}

// some lists the first maxListed texts, and counts the others.
func some(all []string) string {
	if more := len(all) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxListed], ", "), more)
	}
	return strings.Join(all, ", ")
}
