import SecurityRules

extension CoveragePage {
    /// The style sheet. Both themes are one set of names; the dark one gives them other colours.
    ///
    /// All panels share one position. Of nested parts under the pointer, only the innermost shows its panel.
    static let style = """
        :root{color-scheme:light dark;--page:#f7f6f3;--paper:#fff;--ink:#22252b;--soft:#6b7079;
        --edge:#e3e0d9;--shade:#f0eee9;--link:#2457a6;--key:#ffffff;
        --b:#2f8a4c;--b2:#def3e2;--t:#2a72c4;--t2:#e0edfb;--f:#a36a00;--f2:#fdf0cf;
        --x:#8a3fc7;--x2:#f1e4fb;--n:#c4343f;--n2:#fde5e4;--lift:0 8px 28px #20242e26}
        @media (prefers-color-scheme:dark){:root{--page:#14161a;--paper:#1b1e23;--ink:#dfe2e7;
        --soft:#949ba6;--edge:#2d3138;--shade:#24282e;--link:#8ab8f8;--key:#14161a;
        --b:#6cc789;--b2:#1c3626;--t:#7db3f2;--t2:#1b304a;--f:#e0b354;--f2:#3a2f14;
        --x:#c798f0;--x2:#35244a;--n:#f08b8b;--n2:#45221f;--lift:0 8px 28px #000a}}
        *{box-sizing:border-box}
        html{scroll-behavior:smooth;scroll-padding:30vh 0}
        body{margin:0;background:var(--page);color:var(--ink);
        font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
        code,pre,kbd,.lines{font-family:ui-monospace,"SF Mono","Cascadia Code",Menlo,Consolas,
        "DejaVu Sans Mono",monospace}
        header{display:flex;flex-wrap:wrap;gap:14px 44px;align-items:flex-start;padding:24px 28px 18px}
        h1{font-size:21px;line-height:1.25;margin:0;letter-spacing:-.01em}
        .name{min-width:0;max-width:34ch}
        .name p{margin:2px 0 0;color:var(--soft);overflow-wrap:anywhere}
        .figures{display:flex;gap:36px;margin:0}
        dt{color:var(--soft);font-size:13px}
        dd{margin:0;font-size:21px;line-height:1.3;font-weight:600;font-variant-numeric:tabular-nums}
        dd small{font-weight:400;font-size:14px;color:var(--soft)}
        .share{height:4px;border-radius:2px;background:var(--edge);margin-top:3px;overflow:hidden}
        .share i{display:block;height:100%;background:var(--b)}
        .states{flex:1 1 420px;min-width:0}
        .bar{display:flex;gap:2px;height:10px;border-radius:5px;overflow:hidden;margin:6px 0 9px;
        background:var(--edge)}
        .bar i{min-width:3px}
        .legend{display:flex;flex-wrap:wrap;gap:3px 18px;list-style:none;margin:0;padding:0;
        font-size:13px;color:var(--soft)}
        .legend b{color:var(--ink);font-variant-numeric:tabular-nums}
        i{font-style:normal}
        .b{--c:var(--b);--c2:var(--b2)}.t{--c:var(--t);--c2:var(--t2)}.f{--c:var(--f);--c2:var(--f2)}
        .x{--c:var(--x);--c2:var(--x2)}.n{--c:var(--n);--c2:var(--n2)}
        .bar i,.key{background:var(--c)}
        .key{display:inline-block;width:16px;height:16px;border-radius:4px;color:var(--key);
        font:700 13px/16px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;text-align:center}
        .note{margin:0 28px 14px;padding:8px 14px;border-left:3px solid var(--f);background:var(--f2);
        border-radius:0 6px 6px 0}
        main{display:grid;grid-template-columns:minmax(0,1fr) 340px;gap:20px;
        padding:0 28px 28px;align-items:start}
        main>.note{grid-column:1;margin:0}
        .code{display:flex;background:var(--paper);border:1px solid var(--edge);border-radius:10px;
        overflow:hidden;font-size:13px;line-height:22px}
        .lines{flex:none;padding:14px 0;text-align:right;color:var(--soft);background:var(--shade);
        border-right:1px solid var(--edge);user-select:none;white-space:pre}
        .lines a{display:block;padding:0 12px 0 30px;color:inherit;text-decoration:none;
        position:relative}
        .lines a[class]{background:linear-gradient(90deg,var(--c) 4px,transparent 4px)}
        .lines a[class]::before{content:attr(data-s);position:absolute;left:12px;color:var(--c);
        font-weight:700}
        .lines a:hover{color:var(--ink)}.lines a:target{background-color:var(--c2,var(--edge));
        color:var(--ink);font-weight:700}
        pre{margin:0;padding:14px 18px;overflow-x:auto;flex:1;tab-size:4;font-size:inherit}
        .r,.e{border-radius:4px;cursor:default;outline:none}
        .r{background:var(--c2);box-shadow:0 0 0 2px var(--c2),0 3px 0 0 var(--c);
        box-decoration-break:clone;-webkit-box-decoration-break:clone;scroll-margin:30vh 0}
        .r::after{content:"×" attr(data-n);margin-left:9px;padding:0 6px;border-radius:8px;
        background:var(--c);color:var(--key);font-size:11px;font-weight:700;line-height:15px;
        display:inline-block;vertical-align:1px;user-select:none}
        .e.u{text-decoration:underline dashed 1.5px var(--n);text-underline-offset:4px;color:var(--n)}
        .e:hover,.e:focus{background:var(--paper);box-shadow:0 0 0 1.5px var(--ink)}
        .r:hover,.r:focus,.r:target{box-shadow:0 0 0 2px var(--c2),0 0 0 3.5px var(--c)}
        @supports selector(:has(a)){.e:hover:has(.e:hover){background:none;box-shadow:none}}
        .panel{display:none;position:fixed;right:28px;bottom:28px;width:340px;height:300px;z-index:2;
        overflow:auto;padding:14px 16px;background:var(--paper);color:var(--ink);
        border:1px solid var(--edge);border-radius:10px;box-shadow:var(--lift);white-space:normal;
        font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
        text-decoration:none;cursor:auto}
        .panel.hint{display:grid;place-items:center;z-index:0;text-align:center;color:var(--soft);
        border-style:dashed;box-shadow:none}
        .r:target>.panel{display:block;z-index:1}.r:focus>.panel,.e:focus>.panel{display:block}
        .r:hover>.panel,.e:hover>.panel{display:block;z-index:3}
        @supports selector(:has(a)){.r:has(.e:hover)>.panel,.e:has(.e:hover)>.panel{display:none}}
        .head{display:block;overflow-wrap:anywhere}
        .head code{font-size:13px}
        .sub{display:block;color:var(--soft);font-size:13px;margin:3px 0 8px}
        .row{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 12px;padding:5px 0 6px;
        border-top:1px solid var(--edge);position:relative}
        .row bdi{overflow-wrap:anywhere;font:12.5px/1.5 ui-monospace,Menlo,Consolas,
        "DejaVu Sans Mono",monospace}
        .row i{position:absolute;left:0;bottom:-1px;height:2px;background:var(--t);min-width:2px}
        .row.x i{background:var(--x)}.row.x bdi{color:var(--x);font-family:inherit;font-size:13px}
        .row.o bdi{color:var(--soft);font-family:inherit}
        .row b{font-variant-numeric:tabular-nums}
        aside{position:sticky;top:16px;max-height:calc(100vh - 455px);min-height:180px;overflow:auto;
        display:grid;gap:14px;align-content:start;padding-right:4px}
        details{background:var(--paper);border:1px solid var(--edge);border-radius:10px}
        summary{padding:9px 14px;cursor:pointer;font-weight:600}
        summary b{float:right;font-variant-numeric:tabular-nums}
        aside ul{list-style:none;margin:0;padding:0 0 8px}
        aside a{display:grid;grid-template-columns:3.5ch minmax(0,1fr);gap:9px;
        align-items:baseline;padding:4px 14px;color:inherit;text-decoration:none;font-size:13px;
        overflow-wrap:anywhere}
        aside a:hover,aside a:focus-visible{background:var(--shade)}
        aside a code{color:var(--link);font-size:12.5px}
        aside a small{color:var(--soft);text-align:right;font-variant-numeric:tabular-nums}
        .w{background:var(--paper);box-shadow:0 0 0 2px var(--paper),0 3px 0 0 var(--paper)}
        .none{color:var(--soft);margin:0;padding:4px 14px}
        kbd{border:1px solid var(--edge);border-bottom-width:2px;border-radius:4px;padding:0 5px;
        font-size:12px;background:var(--shade)}
        a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:-2px}
        @media (max-width:900px){header{padding:18px 16px 12px}.figures{gap:24px}
        main{grid-template-columns:minmax(0,1fr);padding:0 16px 40vh}
        aside{position:static;max-height:none;order:-1}.note{margin:0 16px 12px}
        .panel{left:0;right:0;bottom:0;width:auto;height:34vh;border-radius:10px 10px 0 0}
        .panel.hint{height:auto;padding:7px 16px;border-width:1px 0 0;border-radius:0;font-size:13px}
        .panel.hint p{margin:0}}
        @media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
        @media print{.panel{display:none!important}main{display:block}}

        """
}
