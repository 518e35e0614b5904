// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// makeVolumes makes the pod's folder, with volumes/NAME for each volume. A container that starts gets
// root/CONTAINER/PATH as a link to it for each of its mounts.
func (p *pod) makeVolumes() error {
	for _, dir := range []string{"tmp", "volumes", "root", "logs"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			return fmt.Errorf("make the folder of the pod: %w", err)
		}
	}
	p.writers = map[string]*volumeutil.AtomicWriter{}
	for i := range p.now.Spec.Volumes {
		volume := &p.now.Spec.Volumes[i]
		dir := p.volumeDir(volume.Name)
		if volume.PersistentVolumeClaim != nil {
			claim := volume.PersistentVolumeClaim.ClaimName
			target, err := p.manager.config.Objects.ClaimDirectory(p.manager.ctx, p.now.Namespace, claim)
			if err == nil {
				err = makeLink(target, dir)
			}
			if err != nil {
				return fmt.Errorf("make volume %s: %w", volume.Name, err)
			}
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make volume %s: %w", volume.Name, err)
		}
		if volume.EmptyDir != nil {
			continue
		}
		writer, err := volumeutil.NewAtomicWriter(dir, "pod "+p.name().String())
		if err != nil {
			return fmt.Errorf("make volume %s: %w", volume.Name, err)
		}
		p.writers[volume.Name] = writer
		if err := p.fill(volume); err != nil {
			return err
		}
	}
	return nil
}

// keepVolumes keeps the volumes as their objects are, and tokens fresh.
func (p *pod) keepVolumes(now time.Time, stale bool) {
	if !p.prepared {
		return
	}
	renewal := p.renewal()
	if stale || !renewal.IsZero() && !now.Before(renewal) {
		p.refreshVolumes()
		renewal = p.renewal()
	}
	if !renewal.IsZero() {
		p.again(later(renewal, now.Add(prepareRetry)))
	}
}

// refreshVolumes writes the volumes again whose objects may have changed. The files change all at once, by a link, as
// a kubelet does it.
func (p *pod) refreshVolumes() {
	for i := range p.now.Spec.Volumes {
		volume := &p.now.Spec.Volumes[i]
		if p.writers[volume.Name] == nil {
			continue
		}
		if err := p.fill(volume); err != nil {
			p.event(corev1.EventTypeWarning, "FailedMount", err.Error())
		}
	}
}

func (p *pod) fill(volume *corev1.Volume) error {
	content, err := p.content(p.manager.ctx, volume)
	if err == nil {
		err = p.writers[volume.Name].Write(content, nil)
	}
	if err != nil {
		return fmt.Errorf("MountVolume.SetUp failed for volume %q: %w", volume.Name, err)
	}
	return nil
}

func (p *pod) volumeDir(name string) string { return filepath.Join(p.dir, "volumes", name) }

// linkMounts makes the container's root, with a link for each of its mounts. A mount below another one comes to lie in
// that volume, as in a container. A run with another environment may have other links.
func (c *container) linkMounts(env variables) error {
	root := c.root()
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("make the root of container %s: %w", c.spec.Name, err)
	}
	for _, mount := range c.spec.VolumeMounts {
		target := c.pod.volumeDir(mount.Name)
		sub, err := subPath(mount, env)
		if err != nil {
			return fmt.Errorf("mount %s: %w", mount.MountPath, err)
		}
		if sub != "" {
			target = filepath.Join(target, sub)
			if err := makeSubPath(target); err != nil {
				return fmt.Errorf("mount %s: %w", mount.MountPath, err)
			}
		}
		link := filepath.Join(root, filepath.Join("/", mount.MountPath))
		if strings.TrimSuffix(link, "/") == root {
			return fmt.Errorf("mount %s: a volume cannot be the root of a process of this machine", mount.MountPath)
		}
		if err := makeLink(target, link); err != nil {
			return fmt.Errorf("mount %s of container %s: %w", mount.MountPath, c.spec.Name, err)
		}
	}
	// Every image has this one, and users name it as the target of kubectl cp.
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the root of container %s: %w", c.spec.Name, err)
	}
	return nil
}

// subPath is the path in its volume that a mount names, itself or by variables of the container; empty for the volume.
func subPath(mount corev1.VolumeMount, env variables) (string, error) {
	path, field := mount.SubPath, "subPath"
	if mount.SubPathExpr != "" {
		field = "subPathExpr"
		var missing []string
		path = expansion.Expand(mount.SubPathExpr, func(name string) string {
			value, ok := env[name]
			if !ok {
				missing = append(missing, name)
			}
			return value
		})
		if len(missing) > 0 {
			return "", fmt.Errorf("subPathExpr %s: there is no variable %s", mount.SubPathExpr, missing[0])
		}
	}
	if path != "" && !filepath.IsLocal(path) {
		return "", fmt.Errorf("%s %s leaves the volume", field, path)
	}
	return path, nil
}

// makeSubPath makes a missing subPath a folder.
func makeSubPath(path string) error {
	if exists(path) {
		return nil
	}
	return os.MkdirAll(path, 0o700)
}

// makeLink makes link lead to target, whatever it was before.
func makeLink(target, link string) error {
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return err
	}
	if now, err := os.Readlink(link); err == nil && now == target {
		return nil
	}
	_ = os.Remove(link)
	return os.Symlink(target, link)
}
