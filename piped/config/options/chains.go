// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// checkChains warns of blocks of deployment chains that deploy nothing: a control plane takes such a block for one that
// has ended well. An application that cannot be read may be the one that a block is about, so that nothing is certain.
func checkChains(reports []*config.Report) {
	var all []*config.Application
	for _, report := range reports {
		switch {
		case report.Application != nil:
			all = append(all, report.Application)
		case report.Kind == "" || slices.Contains(config.ApplicationKinds(), report.Kind):
			return
		}
	}
	for _, report := range reports {
		if report.Application == nil || !report.Application.HasChain() || report.Failed("spec.postSync") {
			continue
		}
		for i, block := range report.Application.PostSync.Chain.Applications {
			field := fmt.Sprintf("spec.postSync.chain.applications[%d]", i)
			others := slices.DeleteFunc(slices.Clone(all), func(a *config.Application) bool {
				return a == report.Application // the control plane does not deploy it again
			})
			if why := deploysNothing(block, others); why != "" && !report.Failed(field) {
				report.Warn(field, why+", so this block of the chain deploys nothing")
			}
		}
		report.Sort()
	}
}

// deploysNothing says why a block of a chain deploys none of the applications; empty when it deploys some.
func deploysNothing(block config.ChainApplication, all []*config.Application) string {
	found := keep(all, func(a *config.Application) bool { return block.Name == "" || block.Name == a.Name })
	if len(found) == 0 {
		return fmt.Sprintf("no other application has the name %q%s", shorten(block.Name), near(block.Name, names(all)))
	}
	kinds := keep(found, func(a *config.Application) bool { return block.Kind == "" || block.Kind == a.ChainKind() })
	if len(kinds) == 0 {
		return fmt.Sprintf("no such application has the kind %q: that of %s is %s", shorten(block.Kind),
			shorten(join(names(found))), found[0].ChainKind())
	}
	found = keep(kinds, func(a *config.Application) bool { return hasAll(a.Labels, block.Labels) })
	if len(found) == 0 {
		return "no such application has these labels"
	}
	if slices.ContainsFunc(found, func(a *config.Application) bool { return !a.Trigger.OnChain.Disabled }) {
		return ""
	}
	return shorten(join(names(found))) + " refuses chains (trigger.onChain.disabled is true, the default)"
}

func keep(all []*config.Application, fits func(*config.Application) bool) (kept []*config.Application) {
	for _, a := range all {
		if fits(a) {
			kept = append(kept, a)
		}
	}
	return kept
}

func names(all []*config.Application) (list []string) {
	for _, a := range all {
		list = append(list, a.Name)
	}
	slices.SortFunc(list, strings.Compare)
	return list
}

// hasAll reports whether labels hold every wanted one.
func hasAll(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, has := labels[key]; !has || got != value {
			return false
		}
	}
	return true
}
