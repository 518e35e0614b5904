// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	annotationArgoWave   = "argocd.argoproj.io/sync-wave"
	annotationArgoDelete = "argocd.argoproj.io/hook-delete-policy"
	annotationHelmWeight = "helm.sh/hook-weight"
	annotationHelmDelete = "helm.sh/hook-delete-policy"
)

// Foundation is the wave of Namespaces and CustomResourceDefinitions without a number: nothing in them could be applied
// earlier.
const Foundation = math.MinInt

// Placement is when an object is applied.
type Placement struct {
	// Hook is what makes the object a hook, as it is written: "helm.sh/hook: pre-install,pre-upgrade". Empty for
	// objects of the application itself.
	Hook string
	Wave int
	// Policy is about hooks alone.
	Policy Policy

	uses []use
}

// Policy is when a hook is deleted. A Job or Pod of another deployment always makes place.
type Policy struct {
	// Recreate deletes the hook before it is applied again.
	Recreate bool
	// Succeeded and Failed delete it after its moment.
	Succeeded, Failed bool
}

// Of reads the annotations of a manifest. Errors name file and line.
func Of(m manifest.Manifest) (Placement, error) {
	r := reader{m: m, annotations: m.GetAnnotations()}
	p := Placement{Wave: r.wave()}
	if r.hook(&p); p.Hook != "" {
		r.policy(&p)
	}
	return p, r.err
}

// HookOf returns what makes an object a hook, as it is written: "helm.sh/hook: pre-install"; empty when it is none.
func HookOf(o metav1.Object) string {
	return describeHook(hookWords(o.GetAnnotations()))
}

// hookWords returns the annotation that counts, and its words: that of Argo CD, else that of Helm.
func hookWords(annotations map[string]string) (name string, words []string) {
	if words = manifest.Words(annotations[manifest.AnnotationArgoHook]); len(words) > 0 {
		return manifest.AnnotationArgoHook, words
	}
	return manifest.AnnotationHelmHook, manifest.Words(strings.ToLower(annotations[manifest.AnnotationHelmHook]))
}

func describeHook(name string, words []string) string {
	if !manifest.AreHooks(words) {
		return ""
	}
	return name + ": " + strings.Join(words, ", ")
}

// At returns the moments of the object on an occasion, each once.
func (p Placement) At(o Occasion) []Moment {
	if p.Hook == "" {
		return []Moment{Sync}
	}
	var moments []Moment
	for _, u := range p.uses {
		if slices.Contains(u.occasions, o) && !slices.Contains(moments, u.moment) {
			moments = append(moments, u.moment)
		}
	}
	return moments
}

// IsDeployed reports whether a deployment that goes well applies the object: hooks of tests, failures, rollbacks and
// removals, and those of Skip, are none of its objects.
func (p Placement) IsDeployed() bool {
	for _, o := range deployed {
		for _, moment := range p.At(o) {
			if moment == Before || moment == Sync || moment == After {
				return true
			}
		}
	}
	return false
}

// Never reports whether an object is a hook that no occasion applies, such as one of Skip.
func Never(m manifest.Manifest) bool {
	p, err := Of(m)
	return err == nil && p.Hook != "" &&
		!slices.ContainsFunc(p.uses, func(u use) bool { return len(u.occasions) > 0 })
}

// Runs reports whether an object has an end: a Job or a Pod. A hook of these kinds runs again in each deployment.
func Runs(m manifest.Manifest) bool {
	switch m.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "batch", Kind: "Job"}, schema.GroupKind{Kind: "Pod"}:
		return true
	}
	return false
}

// reader reads the annotations of one manifest, and keeps the first mistake.
type reader struct {
	m           manifest.Manifest
	annotations map[string]string
	err         error
}

func (r *reader) fail(annotation, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: annotation %s: %s", r.m.Origin.At("metadata.annotations."+annotation), annotation,
			fmt.Sprintf(format, args...))
	}
}

// wave is the number of the first annotation that gives one.
func (r *reader) wave() int {
	for _, name := range []string{manifest.AnnotationOrder, annotationArgoWave, annotationHelmWeight} {
		text, given := r.annotations[name]
		if text = strings.TrimSpace(text); !given || text == "" && name != manifest.AnnotationOrder {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			r.fail(name, "%q is not a whole number", text)
		}
		return n
	}
	if r.m.Is(manifest.KindNamespace) || r.m.Is(manifest.KindCRD) {
		return Foundation
	}
	return 0
}

// hook reads which hook the object is, if it is one.
func (r *reader) hook(p *Placement) {
	name, words := hookWords(r.annotations)
	known := helmUses
	if name == manifest.AnnotationArgoHook {
		known = argoUses
	}
	p.Hook = describeHook(name, words)
	for _, word := range words {
		u, ok := known[word]
		if !ok {
			r.fail(name, "%q is not a hook; use %s", word, list(known))
		}
		p.uses = append(p.uses, u)
	}
}

// policies are the words of Argo CD and Helm.
var policies = map[string]func(*Policy){
	"before-hook-creation": func(p *Policy) { p.Recreate = true },
	"BeforeHookCreation":   func(p *Policy) { p.Recreate = true },
	"hook-succeeded":       func(p *Policy) { p.Succeeded = true },
	"HookSucceeded":        func(p *Policy) { p.Succeeded = true },
	"hook-failed":          func(p *Policy) { p.Failed = true },
	"HookFailed":           func(p *Policy) { p.Failed = true },
}

func (r *reader) policy(p *Placement) {
	name := annotationArgoDelete
	words := manifest.Words(r.annotations[name])
	if len(words) == 0 {
		name = annotationHelmDelete
		words = manifest.Words(r.annotations[name])
	}
	for _, word := range words {
		set, ok := policies[word]
		if !ok {
			r.fail(name, "%q is not a policy; use before-hook-creation, hook-succeeded, hook-failed, or "+
				"BeforeHookCreation, HookSucceeded, HookFailed of Argo CD", word)
			continue
		}
		set(&p.Policy)
	}
}

func list(known map[string]use) string {
	return strings.Join(slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
	}), ", ")
}
