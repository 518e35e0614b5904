// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/auto"
)

// arguments are the offers for the arguments of each command, in their order. A nil at the end repeats the one before.
func arguments(t *session.Target) map[string][]cobra.CompletionFunc {
	one := func(offers ...cobra.CompletionFunc) []cobra.CompletionFunc { return offers }
	apps := of(t, applications)
	return map[string][]cobra.CompletionFunc{
		"up": one(directories), "ci": one(directories), "host": one(directories), "init": one(directories),
		"sync": one(apps), "retry": one(apps), "rollback": one(apps), "remove": one(apps), "open": one(apps),
		"logs": one(apps, of(t, logStages)), "tree": one(apps), "diff": one(apps), "events": one(apps),
		"history":    one(apps),
		"approve":    one(of(t, waiting(approvable)), of(t, waiting(approvable))),
		"skip":       one(of(t, waiting(skippable)), of(t, waiting(skippable))),
		"continue":   one(of(t, waiting(continuable)), of(t, waiting(continuable))),
		"shell":      one(of(t, waiting(continuable)), of(t, waiting(continuable))),
		"break":      one(apps, of(t, logStages)),
		"break show": one(of(t, waiting(continuable)), of(t, waiting(continuable))),
		"cancel":     one(of(t, running)),
		"restart":    one(of(t, plugins)),
		"plugins":    one(of(t, plugins)),
		"version":    one(files),
		"validate":   one(files, nil), "migrate": one(files, nil),
		"fault add": one(nothing), "fault clear": one(nothing, nil),
		"plugin new":    one(nothing, directories),
		"plugin test":   one(files),
		"plugin record": one(named(of(t, plugins)), directories),
		"plugin replay": one(files, files),
		"plugin calls":  one(of(t, plugins)),
		"plugin show":   one(files),
		"plugin protos": one(files),
		"plugin sign":   one(files),
		"plugin schema": one(files),
		"plugin list":   one(of(t, plugins), nil), "plugin info": one(of(t, plugins), nil),
		"plugin install": one(of(t, plugins), nil), "plugin verify": one(of(t, plugins), nil),
	}
}

// flags are the offers for the values of flags: by "--NAME", and by "COMMAND --NAME" where a command differs.
func flags(t *session.Target) map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{
		"--name":      environments(t),
		"--state-dir": directories,
		"--cluster": clusterKinds(string(cluster.InDocker), string(cluster.Embedded), string(cluster.Existing),
			string(cluster.None), string(auto.Kind)),
		"--context":       contexts,
		"--kubeconfig":    files,
		"--kind-config":   files,
		"--sample":        samples,
		"--plugin":        named(bundled),
		"--fault":         nothing,
		"--break":         nothing,
		"--with":          files,
		"--plugin-config": named(bundled),
		"--local-image":   named(nil),
		"--piped":         files,
		"--piped-config":  files,
		"--config-file":   files,
		"--index":         files,
		"--junit":         files,
		"--report":        files,
		"--key":           files,
		"--keys":          files,
		"--key-file":      files,
		"--file":          files,
		"--launcher":      files,
		"--sign-key":      files,
		"--sdk":           directories,
		"--repository":    directories,
		"--source":        directories,
		"--work-dir":      directories,
		"--theme":         themes,
		"--strategy":      values("AUTO", "QUICK_SYNC", "PIPELINE"),
		"--stage":         of(t, logStages),
		"--target":        of(t, targets),
		"--to":            of(t, rollbackTargets),
		"--as":            of(t, approvers),
		"--branch":        references(t),
		"--commit":        references(t),
		"--from":          references(t),
		"--approve":       values("auto", "never", "as:"),
		"--pipeline":      values("quick", "canary", "bluegreen"),
		"--wait":          values("full", "fast"),

		"sync --commit":        commits(t),
		"version --key":        nothing,
		"logs --plugin":        of(t, plugins),
		"restart --piped":      of(t, pipeds),
		"plugin push --file":   named(nil),
		"plugin test --stage":  nothing,
		"plugin calls --stage": nothing,
		"plugin calls --as":    values("grpcurl", "gotest", "recording"),
	}
}
