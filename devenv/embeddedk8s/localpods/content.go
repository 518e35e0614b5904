// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
)

// files are the content of a volume by path.
type files map[string]volumeutil.FileProjection

// Defaults of the API for volumes.
const (
	defaultMode         = int32(0o644)
	defaultTokenSeconds = 3600
)

// content is what the objects of a volume come to.
func (p *pod) content(ctx context.Context, volume *corev1.Volume) (files, error) {
	all := files{}
	var err error
	switch {
	case volume.ConfigMap != nil:
		source := volume.ConfigMap
		err = p.addConfigMap(ctx, all, &corev1.ConfigMapProjection{
			LocalObjectReference: source.LocalObjectReference, Items: source.Items, Optional: source.Optional,
		}, source.DefaultMode)
	case volume.Secret != nil:
		source := volume.Secret
		err = p.addSecret(ctx, all, &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: source.SecretName},
			Items:                source.Items, Optional: source.Optional,
		}, source.DefaultMode)
	case volume.DownwardAPI != nil:
		err = p.addDownward(all, volume.DownwardAPI.Items, volume.DownwardAPI.DefaultMode)
	case volume.Projected != nil:
		for _, source := range volume.Projected.Sources {
			if err = p.addSource(ctx, all, source, volume.Projected.DefaultMode); err != nil {
				break
			}
		}
	}
	return all, err
}

func (p *pod) addSource(ctx context.Context, to files, source corev1.VolumeProjection, mode *int32) error {
	switch {
	case source.ConfigMap != nil:
		return p.addConfigMap(ctx, to, source.ConfigMap, mode)
	case source.Secret != nil:
		return p.addSecret(ctx, to, source.Secret, mode)
	case source.DownwardAPI != nil:
		return p.addDownward(to, source.DownwardAPI.Items, mode)
	case source.ServiceAccountToken != nil:
		token, err := p.token(ctx, source.ServiceAccountToken)
		if err != nil {
			return err
		}
		to[path.Clean(source.ServiceAccountToken.Path)] = file([]byte(token), mode, nil)
		return nil
	}
	return fmt.Errorf("a projected source is of a kind that this cluster does not know")
}

func (p *pod) addConfigMap(ctx context.Context, to files, source *corev1.ConfigMapProjection, mode *int32) error {
	object, err := p.configMap(ctx, source.Name, source.Optional)
	if err != nil {
		return err
	}
	data := map[string][]byte{}
	for key, value := range object.Data {
		data[key] = []byte(value)
	}
	for key, value := range object.BinaryData {
		data[key] = value
	}
	return addItems(to, data, source.Items, mode, source.Optional, "ConfigMap "+source.Name)
}

func (p *pod) addSecret(ctx context.Context, to files, source *corev1.SecretProjection, mode *int32) error {
	object, err := p.secret(ctx, source.Name, source.Optional)
	if err != nil {
		return err
	}
	return addItems(to, object.Data, source.Items, mode, source.Optional, "Secret "+source.Name)
}

// addItems adds all data, or the named ones at their paths.
func addItems(
	to files, data map[string][]byte, items []corev1.KeyToPath, mode *int32, optional *bool, of string,
) error {
	if len(items) == 0 {
		for key, value := range data {
			to[key] = file(value, mode, nil)
		}
		return nil
	}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			if optional != nil && *optional {
				continue
			}
			return fmt.Errorf("%s references non-existent key: %s", of, item.Key)
		}
		to[path.Clean(item.Path)] = file(value, mode, item.Mode)
	}
	return nil
}

func (p *pod) addDownward(to files, items []corev1.DownwardAPIVolumeFile, mode *int32) error {
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = p.field(item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			value, err = resourceField(p.now, &corev1.Container{}, item.ResourceFieldRef)
		}
		if err != nil {
			return err
		}
		to[path.Clean(item.Path)] = file([]byte(value), mode, item.Mode)
	}
	return nil
}

func file(data []byte, mode, own *int32) volumeutil.FileProjection {
	projection := volumeutil.FileProjection{Data: data, Mode: defaultMode}
	for _, wanted := range []*int32{mode, own} {
		if wanted != nil {
			projection.Mode = *wanted
		}
	}
	return projection
}
