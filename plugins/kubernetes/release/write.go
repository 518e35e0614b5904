// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

var secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

const (
	// LabelApplication says which application a record belongs to.
	LabelApplication = "pipedeck.dev/release-of"

	typeOfRecords = "helm.sh/release.v1"
	// pageSize bounds one answer, maxRecords all that are looked at.
	pageSize, maxRecords = 500, 5000
)

// Write writes a record with the next version, and returns that. What was deployed before is superseded when the record
// says that the rollout has succeeded, and the oldest records that are too many are deleted.
func Write(ctx context.Context, c *cluster.Client, r Record) (version int, err error) {
	records, err := list(ctx, c, r.Namespace, labels.Set{"owner": "helm", "name": r.Release.Name})
	if err != nil {
		return 0, err
	}
	for _, one := range records {
		if one.owner != "" && one.owner != r.ApplicationID {
			return 0, fmt.Errorf("the release %s in namespace %s is another application's (%s): set "+
				"input.helmOptions.releaseName", r.Release.Name, r.Namespace, one.owner)
		}
	}
	first, version := r.Now, 1
	if last := newest(records); last != nil {
		version = last.version + 1
		first = firstDeployed(ctx, c, r.Namespace, last.name, r.Now)
	}
	if err := create(ctx, c, r, version, first); err != nil {
		return 0, err
	}
	if !r.Failed {
		for _, one := range records {
			if one.status == string(common.StatusDeployed) {
				err = errors.Join(err, supersede(ctx, c, r, one))
			}
		}
	}
	return version, errors.Join(err, forget(ctx, c, r, records))
}

// list returns the records with these labels, without what is in them.
func list(ctx context.Context, c *cluster.Client, namespace string, of labels.Set) (found []stored, err error) {
	opts := metav1.ListOptions{LabelSelector: of.String(), FieldSelector: "type=" + typeOfRecords, Limit: pageSize}
	for {
		page, err := c.Metadata.Resource(secrets).Namespace(namespace).List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("look for the records of the release: %w", err)
		}
		for _, item := range page.Items {
			version, err := strconv.Atoi(item.Labels["version"])
			if err != nil {
				continue // not Helm's
			}
			found = append(found, stored{name: item.Name, version: version, status: item.Labels["status"],
				owner: item.Labels[LabelApplication]})
		}
		if opts.Continue = page.Continue; opts.Continue == "" || len(found) > maxRecords {
			return found, nil
		}
	}
}

// firstDeployed is what the last record says about it, or now.
func firstDeployed(ctx context.Context, c *cluster.Client, namespace, name string, now time.Time) time.Time {
	secret, err := c.Dynamic.Resource(secrets).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return now
	}
	data, _, _ := unstructured.NestedString(secret.Object, "data", "release")
	record, err := decode(data)
	if err != nil {
		return now
	}
	text, _, _ := unstructured.NestedString(record, "info", "first_deployed")
	if first, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return first
	}
	return now
}

// create writes the Secret of a record. One that is too large is written without the values and notes of the chart.
func create(ctx context.Context, c *cluster.Client, r Record, version int, first time.Time) error {
	record, err := r.helm(version, first)
	if err != nil {
		return err
	}
	data, err := encode(record)
	if errors.Is(err, errTooLarge) {
		chart := *record.Chart
		chart.Values = nil
		record.Chart, record.Info.Notes = &chart, ""
		data, err = encode(record)
	}
	if err != nil {
		return fmt.Errorf("write the record of release %s: %w", r.Release.Name, err)
	}
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": typeOfRecords, "data": map[string]any{"release": data},
	}}
	secret.SetName(fmt.Sprintf("sh.helm.release.v1.%s.v%d", r.Release.Name, version))
	secret.SetLabels(map[string]string{
		"owner": "helm", "name": r.Release.Name, "status": string(r.status()), "version": strconv.Itoa(version),
		"modifiedAt": strconv.FormatInt(r.Now.Unix(), 10), LabelApplication: r.ApplicationID,
	})
	if r.DeployTarget != "" {
		secret.SetAnnotations(map[string]string{manifest.AnnotationDeployTarget: r.DeployTarget})
	}
	sent := 0
	err = cluster.DefaultRetry.Do(ctx, cluster.Retryable, func() error {
		sent++
		_, err := c.Dynamic.Resource(secrets).Namespace(r.Namespace).Create(ctx, secret, metav1.CreateOptions{})
		return err
	})
	if err != nil && (sent == 1 || !apierrors.IsAlreadyExists(err)) { // the answer to the first one may be lost
		return fmt.Errorf("write the record of release %s: %w", r.Release.Name, err)
	}
	return nil
}

// supersede says in a record that another one is deployed now.
func supersede(ctx context.Context, c *cluster.Client, r Record, one stored) error {
	resource := c.Dynamic.Resource(secrets).Namespace(r.Namespace)
	again := func(err error) bool { return cluster.Retryable(err) || apierrors.IsConflict(err) }
	err := cluster.DefaultRetry.Do(ctx, again, func() error {
		secret, err := resource.Get(ctx, one.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := setSuperseded(secret, r.Now); err != nil {
			return err
		}
		_, err = resource.Update(ctx, secret, metav1.UpdateOptions{})
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("supersede the record %s: %w", one.name, err)
	}
	return nil
}

func setSuperseded(secret *unstructured.Unstructured, now time.Time) error {
	data, _, _ := unstructured.NestedString(secret.Object, "data", "release")
	record, err := decode(data)
	if err != nil {
		return err
	}
	info, is := record["info"].(map[string]any)
	if !is {
		return errors.New("it is no record of a release")
	}
	info["status"] = string(common.StatusSuperseded)
	if data, err = encode(record); err != nil {
		return err
	}
	more := secret.GetLabels()
	more["status"], more["modifiedAt"] = string(common.StatusSuperseded), strconv.FormatInt(now.Unix(), 10)
	secret.SetLabels(more)
	return unstructured.SetNestedField(secret.Object, data, "data", "release")
}

// forget deletes the oldest records of the application that are too many together with the new one. What a failed
// rollout leaves deployed stays.
func forget(ctx context.Context, c *cluster.Client, r Record, before []stored) error {
	own := slices.DeleteFunc(slices.Clone(before), func(one stored) bool {
		return one.owner == "" || r.Failed && one.status == string(common.StatusDeployed)
	})
	slices.SortFunc(own, func(a, b stored) int { return a.version - b.version })
	var errs []error
	for _, one := range own[:max(0, len(own)+1-r.History)] {
		errs = append(errs, remove(ctx, c, r.Namespace, one.name))
	}
	return errors.Join(errs...)
}

func remove(ctx context.Context, c *cluster.Client, namespace, name string) error {
	err := cluster.DefaultRetry.Do(ctx, cluster.Retryable, func() error {
		return c.Dynamic.Resource(secrets).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the record %s: %w", name, err)
	}
	return nil
}
