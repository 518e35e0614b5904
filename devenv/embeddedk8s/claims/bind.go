// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// ProvisionedBy is the annotation, which Kubernetes defines, of a volume by its provisioner.
const ProvisionedBy = "pv.kubernetes.io/provisioned-by"

// Annotations that Kubernetes defines.
const (
	bindCompleted     = "pv.kubernetes.io/bind-completed"
	boundByController = "pv.kubernetes.io/bound-by-controller"
)

// ErrPending is in the error of Directory for a claim that is not bound yet.
var ErrPending = errors.New("it is not bound yet")

// VolumeName is the name of the volume of a claim, and of its directory.
func VolumeName(claim types.UID) string { return "pvc-" + string(claim) }

// Directory returns the name of the directory of a claim, below the one of all volumes. The error contains ErrPending
// until the claim is bound.
func Directory(claim *corev1.PersistentVolumeClaim) (string, error) {
	switch {
	case claim.Status.Phase != corev1.ClaimBound:
		return "", fmt.Errorf("claim %s: %w", claim.Name, ErrPending)
	case claim.Spec.VolumeName != VolumeName(claim.UID):
		return "", fmt.Errorf("claim %s is bound to the volume %s, which has no directory here", claim.Name,
			claim.Spec.VolumeName)
	}
	return VolumeName(claim.UID), nil
}

// claimsOf are the claims that a pod names.
func claimsOf(pod *corev1.Pod) []types.NamespacedName {
	var names []types.NamespacedName
	for _, volume := range pod.Spec.Volumes {
		if claim := volume.PersistentVolumeClaim; claim != nil {
			names = append(names, types.NamespacedName{Namespace: pod.Namespace, Name: claim.ClaimName})
		}
	}
	return names
}

// look brings the claim of a name a step further, and removes what deleted ones of that name have left.
func (c *Controller) look(ctx context.Context, name types.NamespacedName) error {
	c.mu.Lock()
	deleted := slices.Clone(c.deleted[name])
	c.mu.Unlock()
	for _, uid := range deleted {
		if err := c.removeVolume(ctx, VolumeName(uid)); err != nil {
			return err
		}
	}
	c.mu.Lock()
	if c.deleted[name] = c.deleted[name][len(deleted):]; len(c.deleted[name]) == 0 {
		delete(c.deleted, name)
	}
	c.mu.Unlock()
	claim, err := c.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case isDeleted(claim):
		return c.release(ctx, claim)
	case claim.Status.Phase == corev1.ClaimBound:
		return c.protect(ctx, claim)
	}
	reason, message := c.obstacle(claim)
	if reason != "" {
		c.say(claim, reason, message)
		return nil
	}
	return c.bind(ctx, claim.DeepCopy())
}

// obstacle says why a claim is not bound now; empty: it can be.
func (c *Controller) obstacle(claim *corev1.PersistentVolumeClaim) (reason, message string) {
	const failed = "ProvisioningFailed"
	if why := Unsupported(claim); why != "" {
		return failed, why
	}
	pods, err := c.pods.Pods(claim.Namespace).List(labels.Everything())
	if err != nil {
		return failed, err.Error() // a lister on a cache does not fail
	}
	if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return uses(pod, nameOf(claim)) }) {
		return "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
	}
	return "", ""
}

// Unsupported says why a claim is never bound here; empty: it is, once a pod uses it.
func Unsupported(claim *corev1.PersistentVolumeClaim) string {
	switch spec := claim.Spec; {
	case spec.StorageClassName != nil && *spec.StorageClassName != Class:
		return fmt.Sprintf("storage class %q is not here: claims of the class %q get a directory of this machine",
			*spec.StorageClassName, Class)
	case spec.VolumeName != "" && spec.VolumeName != VolumeName(claim.UID), spec.Selector != nil:
		return "claims that choose their volume are not bound here"
	case spec.DataSource != nil || spec.DataSourceRef != nil:
		return "volumes with a data source are not made here"
	case spec.VolumeMode != nil && *spec.VolumeMode != corev1.PersistentVolumeFilesystem:
		return "only volumes of the mode Filesystem are made here"
	}
	return ""
}

// say records an Event, unless the last one of the claim was the same.
func (c *Controller) say(claim *corev1.PersistentVolumeClaim, reason, message string) {
	c.mu.Lock()
	said := c.said[claim.UID] == message
	c.said[claim.UID] = message
	c.mu.Unlock()
	if said {
		return
	}
	kind := corev1.EventTypeNormal
	if reason == "ProvisioningFailed" {
		kind = corev1.EventTypeWarning
	}
	c.recorder.Event(claim, kind, reason, message)
}

// bind makes the volume of a claim, and then says on both that they belong together. Each step may have been done
// before.
func (c *Controller) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	name := VolumeName(claim.UID)
	dir := filepath.Join(c.config.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the directory of a volume: %w", err)
	}
	volumes := c.config.Client.CoreV1().PersistentVolumes()
	volume, err := volumes.Create(ctx, volumeFor(claim, dir), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		volume, err = volumes.Get(ctx, name, metav1.GetOptions{})
	}
	if err != nil {
		return fmt.Errorf("create volume %s: %w", name, err)
	}
	if volume.Status.Phase != corev1.VolumeBound {
		volume.Status.Phase = corev1.VolumeBound
		if _, err := volumes.UpdateStatus(ctx, volume, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	claims := c.config.Client.CoreV1().PersistentVolumeClaims(claim.Namespace)
	if claim.Spec.VolumeName == "" {
		class := Class
		claim.Spec.VolumeName, claim.Spec.StorageClassName = name, &class
		if !slices.Contains(claim.Finalizers, protection) {
			claim.Finalizers = append(claim.Finalizers, protection)
		}
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, bindCompleted, "yes")
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, boundByController, "yes")
		if claim, err = claims.Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	claim.Status.Phase, claim.Status.AccessModes = corev1.ClaimBound, volume.Spec.AccessModes
	claim.Status.Capacity = volume.Spec.Capacity
	if _, err := claims.UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
		return err
	}
	c.say(claim, "ProvisioningSucceeded", "Successfully provisioned volume "+name+", a directory of this machine")
	return nil
}

func volumeFor(claim *corev1.PersistentVolumeClaim, dir string) *corev1.PersistentVolume {
	kind := corev1.HostPathDirectoryOrCreate
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        VolumeName(claim.UID),
			Annotations: map[string]string{ProvisionedBy: Provisioner, boundByController: "yes"},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{
				corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage],
			},
			AccessModes: claim.Spec.AccessModes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			StorageClassName: Class,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: dir, Type: &kind},
			},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name,
				UID: claim.UID,
			},
		},
	}
}

// removeVolume removes a volume of ours with its directory; neither has to be there.
func (c *Controller) removeVolume(ctx context.Context, name string) error {
	err := c.config.Client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete volume %s: %w", name, err)
	}
	if err := os.RemoveAll(filepath.Join(c.config.Dir, name)); err != nil {
		return fmt.Errorf("remove the directory of volume %s: %w", name, err)
	}
	return nil
}
