// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Pipeline is how the applications are deployed.
type Pipeline string

// The pipelines.
const (
	Quick     Pipeline = "quick"
	Canary    Pipeline = "canary"
	BlueGreen Pipeline = "bluegreen"
)

// Pipelines are all of them.
func Pipelines() []Pipeline { return []Pipeline{Quick, Canary, BlueGreen} }

const canaryStages = `  # The first deployment is a quick sync: there is nothing to compare with.
  pipeline:
    stages:
      - name: K8S_CANARY_ROLLOUT
        id: canary
        desc: One pod of the new version next to the old ones
        with:
          replicas: 1
      - name: WAIT
        id: wait
        desc: Let it run for a moment
        with:
          duration: 10s
      - name: K8S_PRIMARY_ROLLOUT
        id: primary
        desc: The new version everywhere
      - name: K8S_CANARY_CLEAN
        id: clean
        desc: Remove the canary
`

const blueGreenStages = `  # The first deployment is a quick sync: there is nothing to compare with.
  pipeline:
    stages:
      - name: K8S_CANARY_ROLLOUT
        id: green
        desc: All pods of the new version next to the old ones
        with:
          replicas: 100%
      - name: K8S_TRAFFIC_ROUTING
        id: switch
        desc: Send all traffic to the new version
        with:
          all: canary
      - name: WAIT_APPROVAL
        id: approve
        desc: Look at it, then approve
        with:
          minApproverNum: 1
      - name: K8S_PRIMARY_ROLLOUT
        id: primary
        desc: The new version takes the place of the old one
        with:
          addVariantLabelToSelector: true
      - name: K8S_TRAFFIC_ROUTING
        id: switch-back
        desc: Send all traffic to the primary
        with:
          all: primary
      - name: K8S_CANARY_CLEAN
        id: clean
        desc: Remove the copy
`

// variantLabel is what the selector of a Service needs for traffic stages.
const variantLabel = "pipecd.dev/variant"

// Suits says why an application cannot have a pipeline; empty when it can. Then it is deployed by a quick sync.
func (a *Application) Suits(pipeline Pipeline) (reason string) {
	switch {
	case pipeline == Quick:
	case !a.has("Deployment"):
		return "it has no Deployment"
	case pipeline == BlueGreen && !a.has("Service"):
		return "it has no Service"
	}
	return ""
}

// Services notes the Services whose selector lacks the label that the pipeline needs.
func (a *Application) Services(pipeline Pipeline) (notes []Problem) {
	if pipeline != BlueGreen || a.Suits(pipeline) != "" {
		return nil
	}
	const what = "add " + variantLabel + ": primary to spec.selector of the Service, which the stages change"
	if a.Source == Helm {
		return []Problem{{path.Join(a.Folder, "Chart.yaml"), 0, what}}
	}
	for _, o := range a.objects {
		if o.kind == "Service" && at(o.node, "spec", "selector") != nil &&
			at(o.node, "spec", "selector", variantLabel) == nil {
			return []Problem{{o.file, o.line, what}}
		}
	}
	return nil
}

// Configuration is the content of the application's file.
func (a *Application) Configuration(pipeline Pipeline) string {
	if a.Suits(pipeline) != "" {
		pipeline = Quick
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("apiVersion: pipecd.dev/v1beta1")
	line("kind: Application")
	line("spec:")
	line("  name: %s", scalar(a.Name))
	line("  labels:")
	line("    source: %s", a.Source)
	if a.overlay {
		line("    overlay: %s", scalar(a.variant()))
	}
	if len(a.paths) > 0 {
		line("  trigger:")
		line("    onCommit:")
		line("      # Files elsewhere that belong to this application.")
		line("      paths:")
		for _, name := range a.paths {
			line("        - %s", scalar(name))
		}
	}
	switch pipeline {
	case Canary:
		b.WriteString(canaryStages)
	case BlueGreen:
		b.WriteString(blueGreenStages)
	}
	line("  plugins:")
	line("    kubernetes:")
	if input := a.input(); input == "" {
		line("      input: {}")
	} else {
		line("      input:")
		b.WriteString(input)
	}
	if pipeline == BlueGreen {
		line("      # The selectors of the pods get the label that distinguishes the two versions.")
		line("      # A Deployment that exists without it has to be deleted once.")
		line("      quickSync:")
		line("        addVariantLabelToSelector: true")
	}
	return b.String()
}

// input is the part that says where the manifests are.
func (a *Application) input() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "        "+format+"\n", args...) }
	switch a.Source {
	case Manifests:
		line("manifests:")
		for _, name := range a.files {
			line("  - %s", scalar(name))
		}
	case Helm:
		line("helmChart:")
		line("  path: .")
		line("helmOptions:")
		line("  releaseName: %s", scalar(a.Name))
		if len(a.values) > 0 {
			line("  # values.yaml is always read. Others here, of which the last one wins:")
			line("  # valueFiles:")
			for _, name := range a.values {
				line("  #   - %s", scalar(name))
			}
		}
	}
	if len(a.options) > 0 {
		line("kustomizeOptions:")
		for _, name := range sorted(a.options) {
			line("  %s: %q", name, a.options[name])
		}
	}
	if a.namespace != "" {
		if a.alone {
			line("# Another application has objects of the same names; a separate namespace keeps them apart.")
		}
		line("namespace: %s", scalar(a.namespace))
		line("autoCreateNamespace: true")
	}
	return b.String()
}

// scalar writes a text as YAML does.
func scalar(text string) string {
	out, err := yaml.Marshal(text)
	if err != nil {
		return fmt.Sprintf("%q", text)
	}
	return strings.TrimSpace(string(out))
}

// FindPipeline returns the pipeline of a name.
func FindPipeline(name string) (Pipeline, bool) {
	return Pipeline(name), slices.Contains(Pipelines(), Pipeline(name))
}
