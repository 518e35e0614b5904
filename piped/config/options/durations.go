// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// shorter: {"list[].a": "b"} says that the duration a of each entry of the list is shorter than the duration b of the
// mapping, where both are given. Without "list[].", a is of the mapping, too.
func shorter(argument, value any) *broken {
	mapping, pairs := asObject(value), asObject(argument)
	var found *broken
	for _, place := range slices.Backward(slices.Sorted(maps.Keys(pairs))) {
		longKey, _ := pairs[place].(string)
		long, given := duration(mapping[longKey])
		if !given {
			continue
		}
		list, key, inList := strings.Cut(place, "[].")
		if !inList {
			if short, given := duration(mapping[place]); given && short >= long {
				found = &broken{path: []string{place}, text: notShorter(longKey, long), next: found}
			}
			continue
		}
		for i, entry := range slices.Backward(asList(mapping[list])) {
			if short, given := duration(asObject(entry)[key]); given && short >= long {
				path := []string{list, fmt.Sprint(i), key}
				found = &broken{path: path, text: notShorter(longKey, long), next: found}
			}
		}
	}
	return found
}

// atLeast: {"a": "1s"} says that the duration a is at least so long, where it is given and more than 0. Other rules
// refuse what is not.
func atLeast(argument, value any) *broken {
	mapping, bounds := asObject(value), asObject(argument)
	var found *broken
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(bounds))) {
		least, _ := duration(bounds[key])
		if given, is := duration(mapping[key]); is && given > 0 && given < least {
			found = &broken{path: []string{key}, text: "is too short: want " + short(least) + " or more", next: found}
		}
	}
	return found
}

func notShorter(key string, long time.Duration) string {
	return fmt.Sprintf("is not shorter than %s, which is %s", key, short(long))
}

// fits: {"a": {"into": "b", "times": 3, "least": "1s"}} says that the duration a fits so many times into the duration
// b, where both are given. Without an a, it is at least as long as "least", if that is there.
func fits(argument, value any) *broken {
	mapping, wanted := asObject(value), asObject(argument)
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		into, _ := asObject(wanted[key])["into"].(string)
		times, is := number(asObject(wanted[key])["times"])
		least, bounded := duration(asObject(wanted[key])["least"])
		part, given := duration(mapping[key])
		whole, too := duration(mapping[into])
		if is && given && too && part > 0 && float64(whole/part) < times {
			return &broken{path: []string{key}, text: fmt.Sprintf("fits %d times into %s, which is %s: want %v times "+
				"or more", whole/part, into, short(whole), times)}
		}
		if is && !given && mapping[key] == nil && bounded && too && float64(whole/least) < times {
			return &broken{path: []string{into}, text: fmt.Sprintf("has room for %d times the least %s, which is %s: "+
				"want %v times or more", whole/least, key, short(least), times)}
		}
	}
	return nil
}

// duration reads a duration of either form.
func duration(value any) (time.Duration, bool) {
	switch value := value.(type) {
	case string:
		d, err := time.ParseDuration(value)
		return d, err == nil
	case json.Number:
		nanoseconds, err := value.Int64()
		return time.Duration(nanoseconds), err == nil
	}
	return 0, false
}
