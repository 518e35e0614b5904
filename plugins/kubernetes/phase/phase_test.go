// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package phase_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// objects makes manifests of lines: "Job migrate helm.sh/hook=pre-install helm.sh/hook-weight=1".
func objects(t *testing.T, lines ...string) []manifest.Manifest {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		words := strings.Fields(line)
		version := map[string]string{"Job": "batch/v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1",
			"Deployment": "apps/v1"}[words[0]]
		if version == "" {
			version = "v1"
		}
		fmt.Fprintf(&text, "---\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  annotations:\n    none: x\n",
			version, words[0], words[1])
		for _, annotation := range words[2:] {
			name, value, _ := strings.Cut(annotation, "=")
			fmt.Fprintf(&text, "    %s: %q\n", name, value)
		}
	}
	manifests, err := manifest.Parse([]byte(text.String()), "all.yaml")
	require.NoError(t, err)
	return manifests
}

// waves is "a b | c", groups of a wave by " / ".
func waves(t *testing.T, manifests []manifest.Manifest) string {
	t.Helper()
	found, err := phase.Waves(manifests)
	require.NoError(t, err)
	var all []string
	for _, w := range found {
		var groups []string
		for _, g := range w.Groups {
			var names []string
			for _, m := range g {
				names = append(names, m.GetName())
			}
			groups = append(groups, strings.Join(names, " "))
		}
		all = append(all, strings.Join(groups, " / "))
	}
	return strings.Join(all, " | ")
}

func TestAnnotationsChooseTheMomentOnEachOccasion(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]string{
		"":                           "sync, sync, sync, sync",
		"helm.sh/hook=pre-install":   "before, -, -, -",
		"helm.sh/hook=post-install":  "after, -, -, -",
		"helm.sh/hook=pre-upgrade":   "-, before, -, -",
		"helm.sh/hook=Post-Upgrade":  "-, after, -, -",
		"helm.sh/hook=pre-rollback":  "-, -, before, -",
		"helm.sh/hook=post-rollback": "-, -, after, -",
		"helm.sh/hook=test":          "test, test, test, -",
		"helm.sh/hook=test-success":  "test, test, test, -",
		"helm.sh/hook=pre-delete":    "-, -, -, before",
		"helm.sh/hook=crd-install":   "sync, sync, sync, sync",
		"helm.sh/hook=pre-install,pre-upgrade,post-upgrade": "before, before after, -, -",
		"argocd.argoproj.io/hook=PreSync":                   "before, before, -, -",
		"argocd.argoproj.io/hook=Sync":                      "sync, sync, -, -",
		"argocd.argoproj.io/hook=PostSync":                  "after, after, -, -",
		"argocd.argoproj.io/hook=SyncFail":                  "failure, failure, -, -",
		"argocd.argoproj.io/hook=PreSync,PostSync":          "before after, before after, -, -",
		"argocd.argoproj.io/hook=Skip":                      "-, -, -, -",
		"argocd.argoproj.io/hook=PreDelete":                 "-, -, -, before",
		"argocd.argoproj.io/hook=PostDelete":                "-, -, -, after",
		"helm.sh/hook=post-delete,post-upgrade":             "-, after, -, after",
		// Argo CD's wins over Helm's.
		"argocd.argoproj.io/hook=PostSync helm.sh/hook=pre-install,pre-rollback": "after, after, -, -",
		"argocd.argoproj.io/hook=PreSync helm.sh/hook=post-upgrade":              "before, before, -, -",
	} {
		placement, err := phase.Of(objects(t, "Job a "+annotations)[0])
		require.NoError(t, err, annotations)
		var all []string
		for _, o := range []phase.Occasion{phase.Install, phase.Upgrade, phase.Rollback, phase.Removal} {
			var moments []string
			for _, m := range placement.At(o) {
				moments = append(moments, string(m))
			}
			if len(moments) == 0 {
				moments = []string{"-"}
			}
			all = append(all, strings.Join(moments, " "))
		}
		require.Equal(t, want, strings.Join(all, ", "), annotations)
	}
}

func TestTheNumberOfAWaveIsPipecdsThenArgosThenHelms(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]int{
		"":                       0,
		"pipecd.dev/order=-1":    -1,
		"helm.sh/hook-weight=5":  5,
		"helm.sh/hook-weight=":   0,
		"helm.sh/hook-weight=-5": -5,
		"argocd.argoproj.io/sync-wave=3 helm.sh/hook-weight=5":                     3,
		"pipecd.dev/order=2 argocd.argoproj.io/sync-wave=3 helm.sh/hook-weight=5":  2,
		"pipecd.dev/order=0 argocd.argoproj.io/sync-wave=-3 helm.sh/hook-weight=5": 0,
		"argocd.argoproj.io/sync-wave=-1 argocd.argoproj.io/hook=PostSync":         -1,
	} {
		placement, err := phase.Of(objects(t, "Job a "+annotations)[0])
		require.NoError(t, err, annotations)
		require.Equal(t, want, placement.Wave, annotations)
	}
}

func TestThePolicyIsArgosThenHelms(t *testing.T) {
	t.Parallel()
	const hook = "helm.sh/hook=pre-install "
	for annotations, want := range map[string]phase.Policy{
		hook: {},
		hook + "helm.sh/hook-delete-policy=before-hook-creation,hook-succeeded": {Recreate: true, Succeeded: true},
		hook + "helm.sh/hook-delete-policy=hook-failed":                         {Failed: true},
		hook + "argocd.argoproj.io/hook-delete-policy=HookSucceeded,HookFailed": {Succeeded: true, Failed: true},
		hook + "argocd.argoproj.io/hook-delete-policy=BeforeHookCreation " +
			"helm.sh/hook-delete-policy=hook-failed": {Recreate: true},
		"helm.sh/hook-delete-policy=hook-failed": {}, // no hook
	} {
		placement, err := phase.Of(objects(t, "Job a "+annotations)[0])
		require.NoError(t, err, annotations)
		require.Equal(t, want, placement.Policy, annotations)
	}
}

func TestAMistakeInAnAnnotationIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]string{
		"pipecd.dev/order=soon": `all.yaml:8: annotation pipecd.dev/order: "soon" is not a whole number`,
		"pipecd.dev/order=":     `all.yaml:8: annotation pipecd.dev/order: "" is not a whole number`,
		"argocd.argoproj.io/sync-wave=1.5": `all.yaml:8: annotation argocd.argoproj.io/sync-wave: "1.5" is not a ` +
			`whole number`,
		"helm.sh/hook=post-instal": `all.yaml:8: annotation helm.sh/hook: "post-instal" is not a hook; use ` +
			`crd-install, post-delete, post-install,`,
		"argocd.argoproj.io/hook=presync": `all.yaml:8: annotation argocd.argoproj.io/hook: "presync" is not a ` +
			`hook; use PostDelete, PostSync, PreDelete, PreSync, Skip, Sync, SyncFail`,
		"helm.sh/hook=test helm.sh/hook-delete-policy=never": `all.yaml:9: annotation helm.sh/hook-delete-policy: ` +
			`"never" is not a policy; use before-hook-creation`,
	} {
		manifests := objects(t, "Job a "+annotations)
		require.ErrorContains(t, phase.Check(manifests), want)
		_, err := phase.Arrange(manifests, phase.Install)
		require.ErrorContains(t, err, want)
		_, err = phase.Waves(manifests)
		require.ErrorContains(t, err, want)
	}
}

func TestManifestsAreAppliedInAnOrderThatWorks(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, kind := range []string{"Deployment", "Thing", "ConfigMap", "Ingress", "Service", "CustomResourceDefinition",
		"ClusterRoleBinding", "Namespace", "ServiceAccount", "ValidatingWebhookConfiguration"} {
		lines = append(lines, kind+" "+kind)
	}
	sorted, err := phase.Sort(objects(t, append(lines, "Job Job pipecd.dev/order=-5")...))
	require.NoError(t, err)
	var kinds []string
	for _, m := range sorted {
		kinds = append(kinds, m.GetKind())
	}
	require.Equal(t, []string{"Namespace", "CustomResourceDefinition", "Job", "ServiceAccount", "ConfigMap",
		"ClusterRoleBinding", "Service", "Thing", "Deployment", "Ingress", "ValidatingWebhookConfiguration"}, kinds)
}

func TestEqualWavesAreAppliedTogetherInTheOrderOfKinds(t *testing.T) {
	t.Parallel()
	require.Equal(t, "b c d / e / a f | late", waves(t, objects(t, "Deployment a", "ConfigMap b", "Secret c",
		"ConfigMap d", "Service e", "Job f", "ConfigMap late pipecd.dev/order=2")))
	require.Equal(t, "ns | db | web / job", waves(t, objects(t, "Job job argocd.argoproj.io/sync-wave=1",
		"Service web pipecd.dev/order=1", "Deployment db argocd.argoproj.io/sync-wave=-2", "Namespace ns")))
	require.Empty(t, waves(t, nil))
}

func TestAPlanHasEachMomentsObjectsAndTheIdleHooks(t *testing.T) {
	t.Parallel()
	all := objects(t, "Deployment web", "Job migrate helm.sh/hook=pre-upgrade", "Job seed helm.sh/hook=pre-install",
		"Job warm argocd.argoproj.io/hook=Sync", "Pod check helm.sh/hook=test",
		"Job report argocd.argoproj.io/hook=SyncFail", "Job never argocd.argoproj.io/hook=Skip")
	plan, err := phase.Arrange(all, phase.Upgrade)
	require.NoError(t, err)
	names := func(list []manifest.Manifest) string {
		var names []string
		for _, m := range list {
			names = append(names, m.GetName())
		}
		return strings.Join(names, " ")
	}
	require.Equal(t, "migrate", names(plan.At(phase.Before)))
	require.Equal(t, "web warm", names(plan.At(phase.Sync)))
	require.Equal(t, "warm", names(plan.Hooks(phase.Sync)))
	require.Empty(t, plan.At(phase.After))
	require.Equal(t, "report", names(plan.At(phase.OnFailure)))
	require.Equal(t, "check", names(plan.At(phase.Test)))
	require.Equal(t, "seed never", names(plan.Idle))
	require.Equal(t, "seed never migrate warm report check", names(plan.All()))
	require.Equal(t, "web", names(manifest.WithoutHooks(all)))
	require.Equal(t, "Job migrate (helm.sh/hook: pre-upgrade)", phase.Describe(plan.At(phase.Before)[0]))
	require.Equal(t, "Deployment web", phase.Describe(all[0]))
}

func TestHooksBeforeTheRolloutBringTheirNamespacesAndKinds(t *testing.T) {
	t.Parallel()
	all := objects(t, "Namespace shop", "Namespace other", "CustomResourceDefinition widgets",
		"CustomResourceDefinition gadgets", "Widget w helm.sh/hook=pre-install", "CustomResourceDefinition shipped")
	all[2].Object["spec"] = map[string]any{"group": "", "names": map[string]any{"kind": "Widget"}}
	all[3].Object["spec"] = map[string]any{"group": "", "names": map[string]any{"kind": "Gadget"}}
	all[4].SetNamespace("shop")
	manifest.MarkChartCRD(all[5])
	plan, err := phase.Arrange(all, phase.Install)
	require.NoError(t, err)
	require.Equal(t, "shop / widgets shipped", waves(t, plan.Needed(phase.Before)))
	plan, err = phase.Arrange(all, phase.Upgrade)
	require.NoError(t, err)
	require.Empty(t, plan.Needed(phase.Before), "without hooks nothing is needed")
}
