// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Offer is a plugin that a piped runs, as far as configuration shows it.
type Offer struct {
	// Plugin is the name of the plugin.
	Plugin string
	// Stages are stages that the plugin has besides those that PipeCD's plugin of this name has.
	Stages []string
	// Other says that the program is not PipeCD's plugin of this name: it may have any stages.
	Other bool
}

// Offers returns the plugins of a piped. A plugin whose name is none of PipeCD's may have any stages.
func (p *Piped) Offers() []Offer {
	var offers []Offer
	for _, plugin := range p.Plugins {
		offers = append(offers, Offer{Plugin: plugin.Name, Stages: plugin.Stages})
	}
	return offers
}

// CheckTogether checks what no single file shows, and adds it to the reports of the files: applications that share a
// name, that no plugin deploys, or that name plugins and stages which the piped does not have. Offers are the plugins
// of the piped; nil when they are not known, and PipeCD's own plugins are what names are compared with. Where
// says in messages where the plugins are listed, such as "spec.plugins of piped.yaml".
func CheckTogether(offers []Offer, where string, reports ...*Report) {
	c := &together{offers: offers, where: where}
	names := map[string]*Report{}
	for _, report := range reports {
		if report.Application == nil || len(report.V0) > 0 {
			continue
		}
		if first := names[report.Application.Name]; first != nil && report.Application.Name != "" {
			report.Warn("spec.name", fmt.Sprintf("%q is the name of %s as well; commands and notifications cannot tell the two apart",
				shorten(report.Application.Name), first.decoder.file))
		} else {
			names[report.Application.Name] = report
		}
		if report.Application.Name == "" {
			report.Warn("spec.name", "is missing: an application is registered by its name")
		}
		c.application(report)
		report.Errors, report.Warnings = report.decoder.sorted(report.Errors), report.decoder.sorted(report.Warnings)
	}
}

type together struct {
	offers []Offer
	where  string
}

func (c *together) application(report *Report) {
	a := report.Application
	hasPipeline := a.Pipeline != nil && len(a.Pipeline.Stages) > 0
	switch {
	case hasPipeline:
		for i, stage := range a.Pipeline.Stages {
			if stage.Name != "" {
				c.stage(report, fmt.Sprintf("spec.pipeline.stages[%d].name", i), stage.Name)
			}
		}
	case len(a.Plugins) == 0:
		report.Add("spec", "no plugin deploys this application: name one below plugins, such as \"plugins: {kubernetes: {}}\", or give a pipeline")
	case !slices.ContainsFunc(slices.Collect(maps.Keys(a.Plugins)), func(name string) bool { return !slices.Contains(stageOnlyPlugins, name) }):
		report.Add("spec.plugins", "no plugin deploys this application: "+strings.Join(slices.Sorted(maps.Keys(a.Plugins)), ", ")+
			" run only as stages; name a plugin that deploys, or give a pipeline")
	}
	for _, name := range slices.Sorted(maps.Keys(a.Plugins)) {
		c.plugin(report, join("spec.plugins", name), name, hasPipeline)
	}
	c.twice(report)
}

// stage checks that a plugin has the stage. What a plugin that is not PipeCD's has is not known.
func (c *together) stage(report *Report, field, stage string) {
	owner := stageOwners[stage]
	for _, offer := range c.offers {
		if offer.Plugin == owner || slices.Contains(offer.Stages, stage) {
			return
		}
	}
	known := slices.Sorted(maps.Keys(stageOwners))
	for _, offer := range c.offers {
		known = append(known, offer.Stages...)
	}
	certain := c.offers != nil && !slices.ContainsFunc(c.offers, func(o Offer) bool { return o.Other || !slices.Contains(KnownPlugins(), o.Plugin) })
	var message string
	switch {
	case c.offers == nil && owner != "":
		return
	case c.offers == nil:
		message = fmt.Sprintf("no plugin of PipeCD has the stage %q%s", shorten(stage), near(stage, known))
		if Nearest(stage, known) == "" {
			message += "; if a plugin of yours has it, name the file that lists your plugins: pipedeck validate --piped-config FILE"
		}
	case owner != "":
		message = fmt.Sprintf("%q is a stage of the plugin %s, which is not in %s", stage, owner, c.where)
	case !certain && !slip(stage, known):
		return // It may be a stage of a plugin that is not PipeCD's.
	default:
		message = fmt.Sprintf("no plugin in %s has the stage %q%s", c.where, shorten(stage), near(stage, known))
	}
	if certain {
		report.Add(field, message)
	} else {
		report.Warn(field, message)
	}
}

// plugin checks that the piped has the plugin. A pipeline runs without: the options are only not read then.
func (c *together) plugin(report *Report, field, name string, hasPipeline bool) {
	if c.offers == nil {
		if !slices.Contains(KnownPlugins(), name) && slip(name, KnownPlugins()) {
			report.Warn(field, fmt.Sprintf("%q is not one of PipeCD's plugins%s", shorten(name), near(name, KnownPlugins())))
		}
		return
	}
	var names []string
	for _, offer := range c.offers {
		names = append(names, offer.Plugin)
	}
	switch {
	case slices.Contains(names, name) || slices.Contains(stageOnlyPlugins, name):
	case hasPipeline:
		report.Warn(field, fmt.Sprintf("the plugin %q is not in %s, so nothing reads its options%s", shorten(name), c.where, near(name, names)))
	default:
		report.Add(field, fmt.Sprintf("the plugin %q is not in %s%s", shorten(name), c.where, near(name, names)))
	}
}

// twice warns when both plugins for Kubernetes would deploy the manifests of the application.
func (c *together) twice(report *Report) {
	const one, many = "kubernetes", "kubernetes_multicluster"
	a := report.Application
	deploys := func(plugin string) bool {
		if a.Pipeline == nil || len(a.Pipeline.Stages) == 0 {
			_, named := a.Plugins[plugin]
			return named
		}
		return slices.ContainsFunc(a.Pipeline.Stages, func(s Stage) bool { return stageOwners[s.Name] == plugin })
	}
	if !deploys(one) || !deploys(many) {
		return
	}
	field := join("spec.plugins", many)
	if a.Pipeline != nil && len(a.Pipeline.Stages) > 0 {
		i := slices.IndexFunc(a.Pipeline.Stages, func(s Stage) bool { return stageOwners[s.Name] == many })
		field = fmt.Sprintf("spec.pipeline.stages[%d].name", i)
	}
	report.Warn(field, "the plugins "+one+" and "+many+" both deploy the manifests of this application; keep one of them")
}

// near is the end of a message on a name that is nearly another.
func near(name string, known []string) string {
	if nearest := Nearest(name, known); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	return ""
}
