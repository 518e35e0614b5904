// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
)

// tokenVolume begins the name of the volume that the API server adds for the token of the service account.
const tokenVolume = "kube-api-access-"

// lacks is what a simulated pod refers to and what is not there, so that its containers cannot be created.
type lacks struct {
	// volume says why a volume cannot be mounted; empty: all can.
	volume string
	// claim is set instead while a claim is about to be bound, which its own Events report.
	claim string
	// config says by container why its environment cannot be made.
	config map[string]string
}

// references looks up objects, in the caches of informers first.
type references struct {
	client kubernetes.Interface
	core   coreinformers.Interface
}

// lacksOf looks up what a pod refers to. What a container has been created with is not looked up again.
func (r references) lacksOf(ctx context.Context, pod *corev1.Pod) (lacks, error) {
	found := lacks{config: map[string]string{}}
	if !created(pod) {
		for i := range pod.Spec.Volumes {
			if err := r.addLackingVolume(ctx, &found, pod, &pod.Spec.Volumes[i]); err != nil {
				return lacks{}, err
			}
		}
	}
	spec, status := pod.Spec, pod.Status
	for _, group := range []struct {
		containers []corev1.Container
		statuses   []corev1.ContainerStatus
	}{
		{spec.InitContainers, status.InitContainerStatuses}, {spec.Containers, status.ContainerStatuses},
	} {
		for i := range group.containers {
			container := &group.containers[i]
			if status := find(group.statuses, container.Name); status != nil && status.ContainerID != "" {
				continue
			}
			problem, err := r.lackingVariable(ctx, pod.Namespace, container)
			if err != nil {
				return lacks{}, err
			}
			if problem != "" {
				found.config[container.Name] = problem
			}
		}
	}
	return found, nil
}

func (r references) addLackingVolume(ctx context.Context, to *lacks, pod *corev1.Pod, volume *corev1.Volume) error {
	if volume.PersistentVolumeClaim != nil {
		name := volume.PersistentVolumeClaim.ClaimName
		claim, err := r.core.PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace).Get(name)
		switch {
		case err != nil:
			to.claim = cmp.Or(to.claim, fmt.Sprintf("persistentvolumeclaim %q not found", name))
		case claim.Status.Phase != corev1.ClaimBound:
			to.claim = cmp.Or(to.claim, fmt.Sprintf("persistentvolumeclaim %q is not bound yet", name))
		}
		return nil
	}
	var problems []string
	for _, ref := range sourcesOf(volume) {
		problem, err := r.lacking(ctx, pod.Namespace, ref)
		if err != nil {
			return err
		}
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		to.volume = cmp.Or(to.volume, fmt.Sprintf("MountVolume.SetUp failed for volume %q: %s", volume.Name,
			strings.Join(problems, "; ")))
	}
	return nil
}

// sourceRef refers to a ConfigMap or a Secret, and to keys of it.
type sourceRef struct {
	secret   bool
	name     string
	keys     []string
	optional *bool
}

// sourcesOf are the objects that a volume is made of. The volume that the API server adds is left out: the root
// certificate comes to each namespace by itself.
func sourcesOf(volume *corev1.Volume) (refs []sourceRef) {
	if strings.HasPrefix(volume.Name, tokenVolume) {
		return nil
	}
	switch {
	case volume.ConfigMap != nil:
		of := volume.ConfigMap
		return []sourceRef{{false, of.Name, keysOf(of.Items), of.Optional}}
	case volume.Secret != nil:
		of := volume.Secret
		return []sourceRef{{true, of.SecretName, keysOf(of.Items), of.Optional}}
	case volume.Projected != nil:
		for _, source := range volume.Projected.Sources {
			if of := source.ConfigMap; of != nil {
				refs = append(refs, sourceRef{false, of.Name, keysOf(of.Items), of.Optional})
			}
			if of := source.Secret; of != nil {
				refs = append(refs, sourceRef{true, of.Name, keysOf(of.Items), of.Optional})
			}
		}
	}
	return refs
}

func keysOf(items []corev1.KeyToPath) (keys []string) {
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}

// lackingVariable says why the environment of a container cannot be made; empty: it can.
func (r references) lackingVariable(ctx context.Context, namespace string, c *corev1.Container) (string, error) {
	var refs []sourceRef
	for _, from := range c.EnvFrom {
		if of := from.ConfigMapRef; of != nil {
			refs = append(refs, sourceRef{false, of.Name, nil, of.Optional})
		}
		if of := from.SecretRef; of != nil {
			refs = append(refs, sourceRef{true, of.Name, nil, of.Optional})
		}
	}
	for _, entry := range c.Env {
		if entry.ValueFrom == nil {
			continue
		}
		if of := entry.ValueFrom.ConfigMapKeyRef; of != nil {
			refs = append(refs, sourceRef{false, of.Name, []string{of.Key}, of.Optional})
		}
		if of := entry.ValueFrom.SecretKeyRef; of != nil {
			refs = append(refs, sourceRef{true, of.Name, []string{of.Key}, of.Optional})
		}
	}
	for _, ref := range refs {
		if problem, err := r.lacking(ctx, namespace, ref); err != nil || problem != "" {
			return problem, err
		}
	}
	return "", nil
}

// lacking says what of a reference is not there, in the words of a kubelet; empty: all is, or need not be. What the
// cache does not have may have been created just now, so the API server is asked then.
func (r references) lacking(ctx context.Context, namespace string, ref sourceRef) (string, error) {
	if ref.optional != nil && *ref.optional {
		return "", nil
	}
	missing := ""
	for _, cached := range []bool{true, false} {
		has, err := r.keysIn(ctx, namespace, ref, cached)
		switch missing = ""; {
		case apierrors.IsNotFound(err):
			missing = fmt.Sprintf("%s %q not found", strings.ToLower(ref.kind()), ref.name)
		case err != nil:
			return "", fmt.Errorf("look up what a pod refers to: %w", err)
		}
		for _, key := range ref.keys {
			if missing == "" && !has(key) {
				missing = fmt.Sprintf("couldn't find key %s in %s %s/%s", key, ref.kind(), namespace, ref.name)
			}
		}
		if missing == "" {
			return "", nil
		}
	}
	return missing, nil
}

func (r sourceRef) kind() string {
	if r.secret {
		return "Secret"
	}
	return "ConfigMap"
}

// keysIn reports which keys an object has, as it is in the cache or in the API server.
func (r references) keysIn(
	ctx context.Context, namespace string, ref sourceRef, cached bool,
) (has func(key string) bool, err error) {
	if ref.secret {
		var secret *corev1.Secret
		if cached {
			secret, err = r.core.Secrets().Lister().Secrets(namespace).Get(ref.name)
		} else {
			secret, err = r.client.CoreV1().Secrets(namespace).Get(ctx, ref.name, metav1.GetOptions{})
		}
		return func(key string) bool { _, ok := secret.Data[key]; return ok }, err
	}
	var config *corev1.ConfigMap
	if cached {
		config, err = r.core.ConfigMaps().Lister().ConfigMaps(namespace).Get(ref.name)
	} else {
		config, err = r.client.CoreV1().ConfigMaps(namespace).Get(ctx, ref.name, metav1.GetOptions{})
	}
	return func(key string) bool {
		_, text := config.Data[key]
		_, binary := config.BinaryData[key]
		return text || binary
	}, err
}
