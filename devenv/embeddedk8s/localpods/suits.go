// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Suits returns nil when a pod can run as processes, else the reason why it cannot: an image that is not listed, or a
// volume of a kind that has no directory here.
func (m *Manager) Suits(pod *corev1.Pod) error {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, container := range containers {
			if _, ok := m.config.Programs.Find(container.Image); !ok {
				return fmt.Errorf("image %s is not one that runs as a process of this machine", container.Image)
			}
		}
	}
	for _, volume := range pod.Spec.Volumes {
		if !isDirectory(volume.VolumeSource) {
			return fmt.Errorf("volume %s is of the kind %s, which has no directory on this machine", volume.Name,
				kindOf(volume.VolumeSource))
		}
	}
	return nil
}

func isDirectory(source corev1.VolumeSource) bool {
	return source.EmptyDir != nil || source.ConfigMap != nil || source.Secret != nil || source.DownwardAPI != nil ||
		source.Projected != nil || source.PersistentVolumeClaim != nil
}

// kindOf is the name of the field of a volume that says of which kind it is, as in "hostPath".
func kindOf(source corev1.VolumeSource) string {
	fields := reflect.ValueOf(source)
	for i := range fields.NumField() {
		if !fields.Field(i).IsNil() {
			name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return "unknown"
}
