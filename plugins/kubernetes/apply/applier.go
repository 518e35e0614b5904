// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// FieldManager owns the fields that are applied. It must never change, or fields that vanish from Git would stay.
const FieldManager = "piped"

// kubectlManager owns what `kubectl apply` has written, which is how PipeCD v1 applies.
const kubectlManager = "kubectl-client-side-apply"

// Log takes the lines that a user reads.
type Log interface {
	Infof(format string, args ...any)
	Successf(format string, args ...any)
}

// Applier applies manifests to one cluster.
type Applier struct {
	client *cluster.Client
	log    Log
	// retry bounds the repetition of one request.
	retry backoff
}

// New makes an Applier.
func New(client *cluster.Client, log Log) *Applier {
	return &Applier{client: client, log: log, retry: defaultBackoff}
}

// Applied is a manifest and what the cluster made of it.
type Applied struct {
	Manifest manifest.Manifest
	Live     *unstructured.Unstructured
	Resource dynamic.ResourceInterface
}

// Apply applies the manifests one after the other and stops at the first error. What was applied so far is returned with
// the error.
func (a *Applier) Apply(ctx context.Context, manifests []manifest.Manifest) ([]Applied, error) {
	ordered, err := Sort(manifests)
	if err != nil {
		return nil, err
	}
	applied := make([]Applied, 0, len(ordered))
	for _, m := range ordered {
		one, how, err := a.applyOne(cluster.WithWarnings(ctx, func(text string) {
			a.log.Infof("  the API warns about %s: %s", m.Key().Human(), text)
		}), m)
		if err != nil {
			return applied, err
		}
		applied = append(applied, one)
		a.log.Successf("- %s: %s", one.key().Human(), how)
		if m.Is(manifest.KindCRD) {
			if err := a.awaitEstablished(ctx, one); err != nil {
				return applied, err
			}
		}
	}
	return applied, nil
}

func (a Applied) key() manifest.Key { return manifest.KeyOf(a.Live) }

func (a *Applier) applyOne(ctx context.Context, m manifest.Manifest) (Applied, string, error) {
	r, m, err := a.resource(m)
	if err != nil {
		return Applied{}, "", err
	}
	var (
		live *unstructured.Unstructured
		how  string
	)
	err = a.retry.do(ctx, func() (err error) {
		switch annotations := m.GetAnnotations(); {
		case annotations[manifest.AnnotationForceReplace] == manifest.Enabled:
			live, how, err = a.forceReplace(ctx, r, m)
		case annotations[manifest.AnnotationReplace] == manifest.Enabled:
			live, how, err = a.replace(ctx, r, m)
		default:
			live, how, err = a.serverSide(ctx, r, m)
		}
		return err
	})
	if err != nil {
		return Applied{}, "", describe(err, m)
	}
	return Applied{Manifest: m, Live: live, Resource: r}, how, nil
}

// resource finds where a manifest belongs, and sets or removes its namespace accordingly.
func (a *Applier) resource(m manifest.Manifest) (dynamic.ResourceInterface, manifest.Manifest, error) {
	gvk := m.GroupVersionKind()
	mapping, err := a.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		if meta.IsNoMatchError(err) {
			return nil, m, fmt.Errorf("%s: the cluster does not know %s in %s: is its CustomResourceDefinition installed, and the version right?",
				m.Origin.At("kind"), gvk.Kind, gvk.GroupVersion())
		}
		return nil, m, fmt.Errorf("ask the cluster which resource %s is: %w", gvk.Kind, err)
	}
	m = m.Clone()
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		unstructured.RemoveNestedField(m.Object, "metadata", "namespace")
		return a.client.Dynamic.Resource(mapping.Resource), m, nil
	}
	if m.GetNamespace() == "" {
		m.SetNamespace(a.client.Namespace)
	}
	return a.client.Dynamic.Resource(mapping.Resource).Namespace(m.GetNamespace()), m, nil
}

// serverSide applies with all conflicts decided for Git, and unknown fields refused.
func (a *Applier) serverSide(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	data, err := json.Marshal(m.Object)
	if err != nil {
		return nil, "", err
	}
	force := true
	opts := metav1.PatchOptions{FieldManager: FieldManager, Force: &force, FieldValidation: metav1.FieldValidationStrict}
	live, err := r.Patch(ctx, m.GetName(), types.ApplyPatchType, data, opts)
	if err != nil {
		return nil, "", err
	}
	takeover, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(kubectlManager), FieldManager)
	if err != nil || takeover == nil {
		return live, "applied", nil // nothing of kubectl's to take over
	}
	if _, err := r.Patch(ctx, m.GetName(), types.JSONPatchType, takeover, metav1.PatchOptions{}); err != nil {
		return nil, "", fmt.Errorf("take over the fields that kubectl apply manages: %w", err)
	}
	live, err = r.Patch(ctx, m.GetName(), types.ApplyPatchType, data, opts)
	return live, "applied (taken over from kubectl apply)", err
}

// replace puts the manifest in the place of the live object, or creates it.
func (a *Applier) replace(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return a.create(ctx, r, m)
	}
	if err != nil {
		return nil, "", err
	}
	next := m.Clone()
	next.SetResourceVersion(live.GetResourceVersion())
	live, err = r.Update(ctx, next.Unstructured, metav1.UpdateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict})
	return live, "replaced", err
}

func (a *Applier) create(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Create(ctx, m.Unstructured, metav1.CreateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict})
	return live, "created", err
}

// forceReplace deletes the live object with its dependants and creates it anew.
func (a *Applier) forceReplace(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return a.create(ctx, r, m)
	}
	if err != nil {
		return nil, "", err
	}
	uid := live.GetUID()
	policy := metav1.DeletePropagationBackground
	err = r.Delete(ctx, m.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, "", err
	}
	if err := a.awaitGone(ctx, r, m, uid); err != nil {
		return nil, "", err
	}
	live, _, err = a.create(ctx, r, m)
	return live, "deleted and created anew", err
}

// EnsureNamespace creates a namespace unless it is there.
func (a *Applier) EnsureNamespace(ctx context.Context, name string) error {
	r := a.client.Dynamic.Resource(namespaces)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": manifest.KindNamespace, "metadata": map[string]any{"name": name},
	}}
	err := a.retry.do(ctx, func() error {
		_, err := r.Create(ctx, object, metav1.CreateOptions{FieldManager: FieldManager})
		return err
	})
	switch {
	case err == nil:
		a.log.Successf("- created Namespace %s", name)
		return nil
	case apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsForbidden(err):
		if _, getErr := r.Get(ctx, name, metav1.GetOptions{}); getErr == nil {
			return nil // not allowed to create, and no need to
		}
	}
	return fmt.Errorf("create namespace %s (input.autoCreateNamespace): %w", name, err)
}

// backoff bounds the repetition of a request.
type backoff struct {
	first time.Duration
	tries int
}

var defaultBackoff = backoff{first: 200 * time.Millisecond, tries: 6}

func (b backoff) do(ctx context.Context, request func() error) error {
	pause := b.first
	for try := 1; ; try++ {
		err := request()
		if err == nil || ctx.Err() != nil || try >= b.tries || !cluster.Retryable(err) && !apierrors.IsConflict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
			pause *= 2
		}
	}
}
