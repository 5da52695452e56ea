"""What keeps people out of a page: controls without names, roles that mean nothing, texts and focus that are not seen."""

import json

from sample_pages import contrast_faults

# What WAI-ARIA 1.2 has for authors, abstract roles left out.
ROLES = set(
    """alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
    complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell
    group heading img insertion link list listbox listitem log main marquee math menu menubar menuitem menuitemcheckbox
    menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup
    rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript switch tab table
    tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem""".split()
)

# Roles whose parts must stand within others.
WITHIN = {
    "gridcell": ["row"], "columnheader": ["row"], "rowheader": ["row"], "row": ["grid", "treegrid", "table", "rowgroup"],
    "option": ["listbox"], "treeitem": ["tree", "group"], "menuitem": ["menu", "menubar"], "tab": ["tablist"],
}

# Those who hear the page hear their names.
NAMED = set(
    """button checkbox combobox dialog grid heading link listbox menuitem option progressbar radio searchbox slider spinbutton
    switch tab textbox tree treegrid treeitem""".split()
)

STRUCTURE = """((roles, within) => {
    const faults = [];
    const say = (element, words) => faults.push(`${words}: ${element.outerHTML.slice(0, 140)}`);
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });
    for (const element of document.querySelectorAll("[role]")) {
        const role = element.getAttribute("role");
        if (!roles.includes(role)) say(element, `no role ${role}`);
        const outer = within[role];
        if (outer && !outer.some((each) => element.parentElement.closest(`[role=${each}]`))) say(element, `${role} stands alone`);
    }
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant", "aria-owns"])
        for (const element of document.querySelectorAll(`[${name}]`))
            for (const id of element.getAttribute(name).split(/\\s+/))
                if (id && !document.getElementById(id)) say(element, `${name} leads nowhere`);
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) faults.push(`two elements have the id ${id}`);
    for (const element of document.querySelectorAll("label")) if (isSeen(element) && !element.control) say(element, "a label of nothing");
    for (const element of document.querySelectorAll("[aria-hidden=true]"))
        if (element.querySelector("a, button, input, select, textarea")) say(element, "a control is hidden");
    for (const element of document.querySelectorAll("button, input, select, textarea, summary, [role=option], [role=menuitem]")) {
        if (!isSeen(element)) continue;
        // A checkbox is pressed by its label too.
        const target = (element.type === "checkbox" && element.closest("label")) || element;
        const { width, height } = target.getBoundingClientRect();
        if (width < 24 || height < 24) say(element, `${Math.round(width)} x ${Math.round(height)} is too small`);
    }
    const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(isSeen).map((head) => Number(head.tagName[1]));
    levels.forEach((level, index) => { if (index && level > levels[index - 1] + 1) faults.push(`a heading of level ${level} after ${levels[index - 1]}`); });
    if (document.documentElement.scrollWidth > innerWidth) faults.push(`${document.documentElement.scrollWidth} wide in ${innerWidth}`);
    if (!document.documentElement.lang || !document.title) faults.push("no language or no title");
    return faults;
})"""

# The looks that tell people where the focus is, of an element and of what it points at.
LOOK = """((element) => {
    const look = (each) => {
        if (!each) return "";
        const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor } = getComputedStyle(each);
        return [outlineStyle === "none" ? "" : outlineWidth + outlineColor, boxShadow, borderColor, backgroundColor].join();
    };
    return look(element) + look(document.getElementById(element.getAttribute("aria-activedescendant")));
})"""

FOCUS = f"""(() => {{
    const look = {LOOK};
    const before = document.activeElement;
    const faults = [];
    const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]");
    for (const element of all) {{
        if (element.disabled || !element.checkVisibility({{ visibilityProperty: true }}) || element.matches("main")) continue;
        document.activeElement.blur();
        const plain = look(element);
        element.focus({{ preventScroll: true, focusVisible: true }});
        if (document.activeElement === element && look(element) === plain) faults.push(`focus is not seen: ${{element.outerHTML.slice(0, 140)}}`);
    }}
    before?.focus?.({{ preventScroll: true }});
    return faults;
}})()"""


def nameless(window):
    """Controls that have no name, as the browser tells it to screen readers."""
    nodes = window.call("Accessibility.getFullAXTree")["nodes"]
    return [
        f"no name: {node['role']['value']} {node.get('description', {}).get('value', '')} in {parent_name(node, nodes)}"
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in NAMED and not node.get("name", {}).get("value", "").strip()
    ]


def parent_name(node, nodes):
    """The nearest name above a node, to find it by."""
    by_id = {each["nodeId"]: each for each in nodes}
    while node := by_id.get(node.get("parentId")):
        if name := node.get("name", {}).get("value"):
            return name
    return "the page"


def faults(window, moves_focus=True):
    """All that is wrong with the page as it stands, in the window's colours and size."""
    structure = window.value(f"{STRUCTURE}({json.dumps(sorted(ROLES))}, {json.dumps(WITHIN)})")
    contrast = [f"contrast of {each}" for each in contrast_faults(window)]
    return [*structure, *nameless(window), *contrast, *(window.value(FOCUS) if moves_focus else [])]


def tabbed_through(window, most=400):
    """Goes through the page with Tab alone; the elements where it stopped, each once, and what was wrong with one."""
    window.value("void (document.activeElement.blur(), getSelection().removeAllRanges(), window.stops = [])")
    # From the beginning of the page.
    window.value("(document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex'))")
    wrong = []
    for _ in range(most):
        window.key("Tab")
        stop = window.value(
            """(() => {
                const element = document.activeElement;
                if (!element || element === document.body || stops.includes(element)) return null;
                stops.push(element);
                const box = element.getBoundingClientRect();
                const isInSight = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth && box.width > 0;
                return { html: element.outerHTML.slice(0, 140), isInSight, isShown: element.matches(":focus-visible") };
            })()"""
        )
        if stop is None:
            break
        if not stop["isInSight"] or not stop["isShown"]:
            wrong.append(stop["html"])
    else:
        wrong.append("Tab never comes to the end")
    return window.value("stops.map((element) => element.ariaLabel || element.innerText || element.id || element.tagName)"), wrong
